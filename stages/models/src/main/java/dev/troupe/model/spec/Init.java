package dev.troupe.model.spec;

/** How the elements of a parameter begin. */
public sealed interface Init {
    /** Every element is the same. */
    record Constant(double value) implements Init {
    }

    /** Each element is drawn by itself, from a normal distribution around zero. */
    record Normal(double deviation) implements Init {
    }

    /** Each element is drawn by itself, evenly from {@code -bound} to {@code bound}. */
    record Uniform(double bound) implements Init {
    }
}
