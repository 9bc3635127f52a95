package dev.troupe.engine;

/**
 * The numbers of one AdamW update (Loshchilov and Hutter 2019, algorithm 2, as {@code torch.optim.AdamW} computes it).
 *
 * @param beta1 decay of the first moment
 * @param beta2 decay of the second moment
 * @param epsilon added to the root of the second moment, after its bias correction
 * @param weightDecay decoupled decay; 0 for tensors that do not decay
 * @param step the number of this update, from 1
 * @param gradientScale a factor of every gradient (clipping)
 */
public record AdamW(double learningRate, double beta1, double beta2, double epsilon, double weightDecay, long step,
        double gradientScale) {
    public AdamW {
        if (step < 1) {
            throw new IllegalArgumentException("AdamW counts its updates from 1, but found step " + step);
        }
    }
}
