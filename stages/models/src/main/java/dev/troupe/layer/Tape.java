package dev.troupe.layer;

import dev.troupe.engine.Tensor;

/**
 * The way of one microbatch through one layer, the forward, its two backwards, and what they keep between them. The
 * three are called once each, in this order, other microbatches in between as they come. In between, a stage may
 * have it let go of what it keeps and make it again.
 */
public interface Tape {
    /** Takes over {@code x} and returns what the next layer takes over; null stands for no tensor at the model's ends. */
    Tensor forward(Tensor x, MicrobatchContext microbatch);

    /** After the forward: gives back what the backwards can make again for next to nothing, and will. */
    void dropRecomputable();

    /** After the forward: gives back all that it kept, except its input. */
    void dropAllButInput();

    /** Makes again what {@link #dropAllButInput} gave back, to the bit. */
    void recompute();

    /**
     * Takes over the gradient for the output and returns the gradient for the input, which its caller takes over.
     *
     * @param weightsFollow whether {@link #backwardWeight} is the next call of the stage, so that gradients of weights
     *     which a kernel makes together with those of inputs may be added to here
     */
    Tensor backwardInput(Tensor dy, boolean weightsFollow);

    /** Adds to the gradients of the parameters, and keeps nothing any more. */
    void backwardWeight();

    /** Gives back whatever is kept; the tape is empty then. */
    void release();
}
