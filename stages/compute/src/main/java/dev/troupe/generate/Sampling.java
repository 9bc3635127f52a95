package dev.troupe.generate;

/**
 * How a token is drawn from the logits.
 *
 * @param temperature
 *            what logits are divided by; 0 takes the most likely token, the lowest id among equals
 * @param topK
 *            only so many most likely tokens can be drawn; 0 for all
 * @param seed
 *            of the draws
 */
public record Sampling(double temperature, int topK, long seed) {
    public Sampling {
        if (!(temperature >= 0) || temperature == Double.POSITIVE_INFINITY || topK < 0) {
            throw new IllegalArgumentException("sampling needs a temperature and a top-k of at least 0, but found "
                    + temperature + " and " + topK);
        }
    }
}
