package dev.troupe.layer;

import dev.troupe.engine.Tensor;

/**
 * The computation of one microbatch in one layer: the forward, its two backwards, and the tensors kept between them. The
 * three are called once each, in this order, interleaved with other microbatches. In between, a stage may free the kept
 * tensors and compute them again.
 */
public interface Tape {
    /** Takes over {@code x} and returns the next layer's input; null at the ends of the model. */
    Tensor forward(Tensor x, MicrobatchContext microbatch);

    /** Frees, after the forward, the tensors that the backwards compute again at almost no cost. */
    void dropRecomputable();

    /** Frees, after the forward, all kept tensors except the input. */
    void dropAllButInput();

    /** Computes the tensors that {@link #dropAllButInput} freed again, with the same bits. */
    void recompute();

    /**
     * Takes over the gradient for the output and returns the gradient for the input, which its caller takes over.
     *
     * @param weightsFollow whether {@link #backwardWeight} is the next call of the stage, so that a kernel may add to
     *     gradients of weights together with gradients of inputs
     */
    Tensor backwardInput(Tensor dy, boolean weightsFollow);

    /** Adds to the gradients of the parameters, and frees all tensors. */
    void backwardWeight();

    /** Frees all kept tensors. */
    void release();
}
