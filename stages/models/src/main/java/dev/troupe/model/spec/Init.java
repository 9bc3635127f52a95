package dev.troupe.model.spec;

/** The initial values of a parameter. */
public sealed interface Init {
    /** Every element is the same. */
    record Constant(double value) implements Init {
    }

    /** Each element is drawn independently, from a normal distribution around zero. */
    record Normal(double deviation) implements Init {
    }

    /** Each element is drawn independently and uniformly from {@code -bound} to {@code bound}. */
    record Uniform(double bound) implements Init {
    }
}
