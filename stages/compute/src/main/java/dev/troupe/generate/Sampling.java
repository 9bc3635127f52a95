package dev.troupe.generate;

/**
 * The rule by which a token is drawn from the logits.
 *
 * @param temperature the divisor of logits; 0 takes the most likely token, the lowest id among equals
 * @param topK the number of most likely tokens that can be drawn; 0 for all
 * @param topP only the fewest most likely tokens with this total probability can be drawn (Holtzman et al. 2020); above 0; 1
 *     for all
 */
public record Sampling(double temperature, int topK, double topP, long seed) {
    public Sampling {
        if (!(temperature >= 0) || temperature == Double.POSITIVE_INFINITY || topK < 0) {
            throw new IllegalArgumentException("sampling needs a temperature and a top-k of at least 0, but found "
                    + temperature + " and " + topK);
        }
        if (!(topP > 0 && topP <= 1)) {
            throw new IllegalArgumentException("sampling needs a top-p above 0 and at most 1, but found " + topP);
        }
    }

    /** Creates sampling of the most likely tokens, by their number alone. */
    public Sampling(double temperature, int topK, long seed) {
        this(temperature, topK, 1, seed);
    }
}
