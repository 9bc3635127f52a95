package dev.troupe.generate;

/**
 * The rule by which a token is drawn from the logits. Penalties come first, then the temperature, top-k, top-p and min-p, in
 * the order of transformers. Tokens that are equally likely as the last permitted one are permitted too.
 *
 * @param temperature the divisor of logits; 0 takes the most likely token, the lowest id among equals
 * @param topK the number of most likely tokens that can be drawn; 0 for all
 * @param topP only the fewest most likely tokens with this total probability can be drawn (Holtzman et al. 2020); above 0; 1
 *     for all
 * @param minP only tokens with at least this share of the largest probability can be drawn (Nguyen et al. 2024); below 1; 0
 *     for all
 * @param penalties the change of logits of tokens that the text has already
 * @param seed the number from which the draw at each position follows
 */
public record Sampling(double temperature, int topK, double topP, double minP, Penalties penalties, long seed) {
    /**
     * The change of logits of tokens that the text has already.
     *
     * @param repetition the divisor of positive logits, and factor of negative ones, of tokens in prompt and text (Keskar et
     *     al. 2019); above 0; 1 for none
     * @param presence what the logit of a token loses if it is in the text after the prompt; from -2 to 2; 0 for none
     * @param frequency what it loses for each time it is there; from -2 to 2; 0 for none
     */
    public record Penalties(double repetition, double presence, double frequency) {
        public static final Penalties NONE = new Penalties(1, 0, 0);
        private static final double MOST = 2;

        public Penalties {
            if (!(repetition > 0) || repetition == Double.POSITIVE_INFINITY) {
                throw new IllegalArgumentException(
                        "sampling needs a repetition penalty above 0, but found " + repetition);
            }
            if (!(Math.abs(presence) <= MOST) || !(Math.abs(frequency) <= MOST)) {
                throw new IllegalArgumentException(
                        "sampling needs penalties of presence and frequency from -2 to 2, but"
                                + " found " + presence + " and " + frequency);
            }
        }
    }

    public Sampling {
        if (!(temperature >= 0) || temperature == Double.POSITIVE_INFINITY || topK < 0) {
            throw new IllegalArgumentException("sampling needs a temperature and a top-k of at least 0, but found "
                    + temperature + " and " + topK);
        }
        if (!(topP > 0 && topP <= 1)) {
            throw new IllegalArgumentException("sampling needs a top-p above 0 and at most 1, but found " + topP);
        }
        if (!(minP >= 0 && minP < 1)) {
            throw new IllegalArgumentException("sampling needs a min-p of at least 0 and below 1, but found " + minP);
        }
    }

    /** Creates sampling of the most likely tokens, by their number alone. */
    public Sampling(double temperature, int topK, long seed) {
        this(temperature, topK, 1, 0, Penalties.NONE, seed);
    }

    /** Returns the sampling of one of several answers to the same prompt: its number is added to the seed. */
    public Sampling ofAnswer(int number) {
        return new Sampling(temperature, topK, topP, minP, penalties, seed + number);
    }
}
