package dev.troupe.layer;

import dev.troupe.engine.Tensor;

/**
 * The way of one microbatch through one layer: the forward, its two backwards, and the tensors kept between them. The three
 * are called once each, in this order, other microbatches in between as they come. In between, a stage may drop the kept
 * tensors and have them computed again.
 */
public interface Tape {
    /** Takes over {@code x} and returns the next layer's input; null is no tensor, at the model's ends. */
    Tensor forward(Tensor x, MicrobatchContext microbatch);

    /** Gives back, after the forward, the tensors that the backwards compute again at almost no cost. */
    void dropRecomputable();

    /** Gives back, after the forward, all kept tensors except the input. */
    void dropAllButInput();

    /** Computes the tensors that {@link #dropAllButInput} gave back again, to the bit. */
    void recompute();

    /**
     * Takes over the gradient for the output and returns the gradient for the input, which its caller takes over.
     *
     * @param weightsFollow whether {@link #backwardWeight} is the next call of the stage, so that a kernel may add to
     *     gradients of weights together with gradients of inputs
     */
    Tensor backwardInput(Tensor dy, boolean weightsFollow);

    /** Adds to the gradients of the parameters, and gives back all tensors. */
    void backwardWeight();

    /** Gives back all kept tensors; the tape is empty then. */
    void release();
}
