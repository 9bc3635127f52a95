package dev.troupe.layer;

import dev.troupe.engine.Tensor;

/**
 * The loads of the experts in one microbatch, added up over the layers so far, and the gradient of the auxiliary loss. That
 * loss reads the sums over all layers of the model, so the sums travel with the forward, and the gradient with the backward.
 *
 * <p>E experts. Thread rule: as for kernels.
 */
public final class ExpertLoads {
    private final Tensor sums;
    private double[] gradient;
    private Tensor scoreGradient;

    /**
     * Makes the loads of a microbatch.
     *
     * @param sums float tensor [2 E], freed by {@link #release}: the choices of each expert, then the sum of its scores
     */
    public ExpertLoads(Tensor sums) {
        this.sums = sums;
    }

    public Tensor sums() {
        return sums;
    }

    /** Sets the gradient for the score of each expert in every row and layer, known after the forward of the last stage. */
    public void setGradient(double[] numbers) {
        gradient = numbers;
    }

    public double[] gradient() {
        return gradient;
    }

    /** Sets the gradient on the engine, a float tensor [E], taken over; null if this rank adds none. */
    public void setScoreGradient(Tensor tensor) {
        scoreGradient = tensor;
    }

    /** Returns the gradient on the engine, which layers add in their backward; null for none. */
    public Tensor scoreGradient() {
        return scoreGradient;
    }

    /** Frees the tensors. */
    public void release(TensorPool pool) {
        pool.give(sums);
        scoreGradient = pool.drop(scoreGradient);
    }
}
