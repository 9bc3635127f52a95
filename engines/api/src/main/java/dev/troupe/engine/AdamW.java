package dev.troupe.engine;

/**
 * What one AdamW update needs beside its tensors (Loshchilov and Hutter 2019, algorithm 2, as {@code torch.optim.AdamW}
 * computes it).
 *
 * @param learningRate the rate of this step
 * @param beta1 decay of the first moment
 * @param beta2 decay of the second moment
 * @param epsilon added to the root of the second moment, after its bias correction
 * @param weightDecay decoupled decay; 0 for tensors that do not decay
 * @param step how many updates there will have been after this one, so at least 1
 * @param gradientScale what every gradient is multiplied by first (clipping)
 */
public record AdamW(double learningRate, double beta1, double beta2, double epsilon, double weightDecay, long step,
        double gradientScale) {
    public AdamW {
        if (step < 1) {
            throw new IllegalArgumentException("AdamW counts its updates from 1, but found step " + step);
        }
    }
}
