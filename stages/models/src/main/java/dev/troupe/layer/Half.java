package dev.troupe.layer;

import dev.troupe.engine.Tensor;
import java.util.List;

/** A half of a block: {@code f} of {@code y = x + f(norm(x))}, where x is the residual stream. */
public interface Half {
    /** What it uses, in the order of the published model. */
    List<Parameter> parameters();

    /** An empty pass; it serves one microbatch after another. */
    Pass newPass();

    /** One microbatch. */
    interface Pass {
        /**
         * The forward as far as the backwards need it, without the last projection. The input is {@code residual + x},
         * which x becomes; takes that over.
         *
         * @param residual
         *            what passed by the half before, which keeps it; null where x is all of the input
         */
        void enter(Tensor residual, Tensor x, DropoutKey dropoutKey);

        /**
         * The last projection, after {@link #enter}: what is to be added to {@link #residual}, the caller's from here
         * on.
         */
        Tensor project();

        /** The input, which passes by this half. */
        Tensor residual();

        /** Gives back what the backwards can make again for next to nothing, and will. */
        void shed();

        /** Keeps its input alone. */
        void rewind();

        /** Makes again what {@link #rewind} gave back. */
        void replay();

        /** Takes over the gradient for {@code x + f(norm(x))}, and returns that for x. */
        Tensor backwardInput(Tensor dy);

        /** Adds to the gradients of the parameters, and keeps nothing any more. */
        void backwardWeight();

        /** Gives back whatever is kept. */
        void release();
    }
}
