package dev.troupe.layer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;

/**
 * The loads of the experts in one microbatch, for each layer of a stage with experts, and the gradient of the losses that
 * read them. The auxiliary loss reads the sums over all layers of the model, so the sums travel with the forward, and the
 * gradient with the backward.
 *
 * <p>E experts. Thread rule: as for kernels.
 */
public final class ExpertLoads {
    /** Numbers of a layer after the choices and the scores of each expert: the z-loss, and the dropped choices. */
    private static final int OTHERS = 2;

    private final Engine engine;
    private final Tensor layers;
    private final int experts;
    private final double[] before;
    private int layersBegun;
    private double[] gradient;
    private Tensor scoreGradient;
    private double zLossGradient;

    /**
     * Makes the loads of a microbatch.
     *
     * @param layers float vector of zeros, {@link #numbersOf} for each layer, freed by {@link #release}; null if there is
     *     none
     * @param before the numbers that arrived with the activation
     */
    public ExpertLoads(Engine engine, Tensor layers, int experts, double[] before) {
        this.engine = engine;
        this.layers = layers;
        this.experts = experts;
        this.before = before.clone();
    }

    /** Returns how many numbers a layer has. */
    public static int numbersOf(int experts) {
        return 2 * experts + OTHERS;
    }

    /** Returns the index of the number of dropped choices among the numbers of a layer. */
    public static int droppedIndex(int experts) {
        return 2 * experts + 1;
    }

    /** Begins the next layer of the stage in a forward, and returns its number. */
    public int nextLayer() {
        return layersBegun++;
    }

    /** Returns all numbers of a layer. */
    public Tensor ofLayer(int layer) {
        return range(layer, numbersOf(experts));
    }

    /** Returns the choices of each expert in a layer, then the sum of its scores, [2 E]. */
    public Tensor choicesAndScores(int layer) {
        return range(layer, 2 * experts);
    }

    /** Returns the choices of each expert in a layer, [E]. */
    public Tensor choices(int layer) {
        return range(layer, experts);
    }

    private Tensor range(int layer, int count) {
        return engine.range(layers, (long) layer * numbersOf(experts), Shape.of(count));
    }

    /** Returns the numbers of all layers; null if the stage has none. */
    public Tensor layers() {
        return layers;
    }

    /** Returns the numbers that arrived with the activation. */
    public double[] before() {
        return before;
    }

    /** Sets the gradient, known after the forward of the last stage. */
    public void setGradient(double[] numbers) {
        gradient = numbers;
    }

    public double[] gradient() {
        return gradient;
    }

    /**
     * Sets the gradients that layers add in their backward.
     *
     * @param tensor for the score of each expert in every row, a float vector [E], taken over; null for none
     * @param zLoss for the z-loss of each layer; 0 for none
     */
    public void setLayerGradients(Tensor tensor, double zLoss) {
        scoreGradient = tensor;
        zLossGradient = zLoss;
    }

    /** Returns the gradient for the score of each expert; null for none. */
    public Tensor scoreGradient() {
        return scoreGradient;
    }

    /** Returns the gradient for the z-loss of each layer; 0 for none. */
    public double zLossGradient() {
        return zLossGradient;
    }

    /** Frees the tensors. */
    public void release(TensorPool pool) {
        if (layers != null) {
            pool.give(layers);
        }
        scoreGradient = pool.drop(scoreGradient);
    }
}
