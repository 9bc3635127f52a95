package dev.troupe.generate;

import dev.troupe.batch.Mixing;
import java.util.Arrays;
import java.util.BitSet;

/**
 * The sampler of one text, which draws token ids from logits.
 *
 * <p>Thread rule: one thread at a time.
 */
final class Sampler {
    private static final long POSITION_STRIDE = 0x9E3779B97F4A7C15L;
    private static final double UNIT = 0x1p-53;

    private final Sampling sampling;
    private final double[] logits;
    private final double[] weights;
    private final double[] sorted;

    Sampler(Sampling sampling, int vocabularySize) {
        this.sampling = sampling;
        logits = new double[vocabularySize];
        weights = new double[vocabularySize];
        sorted = new double[vocabularySize];
    }

    /**
     * Returns one token id. The draw depends on the seed and on the number of tokens before it.
     *
     * @param raw logits of the whole vocabulary
     * @param text prompt and text so far, of which {@code length} tokens count
     * @param written the first tokens of the text after the prompt begin here
     */
    int draw(double[] raw, int[] text, int written, int length) {
        int best = weigh(raw, text, written, length);
        if (sampling.temperature() == 0) {
            return best;
        }
        double total = 0;
        for (double weight : weights) {
            total += weight;
        }
        double draw = uniform(length) * total;
        for (int token = 0; token < weights.length; token++) {
            draw -= weights[token];
            if (draw < 0) {
                return token;
            }
        }
        return best; // rounding can leave a remainder of the draw
    }

    /** Returns the probabilities from which {@link #draw} draws. */
    double[] distribution(double[] raw, int[] text, int written, int length) {
        weigh(raw, text, written, length);
        double total = Arrays.stream(weights).sum();
        return Arrays.stream(weights).map(weight -> weight / total).toArray();
    }

    private double uniform(int position) {
        return (Mixing.mix(Mixing.mix(sampling.seed()) + POSITION_STRIDE * position) >>> 11) * UNIT;
    }

    /** Computes weights in proportion to the probabilities, unless the temperature is 0; returns the likeliest token. */
    private int weigh(double[] raw, int[] text, int written, int length) {
        System.arraycopy(raw, 0, logits, 0, logits.length);
        penalize(text, written, length);
        int best = mostLikely();
        if (sampling.temperature() > 0) {
            double largest = logits[best];
            if (sampling.topP() < 1 || sampling.topK() > 0 && sampling.topK() < logits.length) {
                System.arraycopy(logits, 0, sorted, 0, logits.length);
                Arrays.sort(sorted);
            }
            double threshold = nucleus(threshold(largest), largest);
            for (int token = 0; token < logits.length; token++) {
                weights[token] = weight(logits[token], largest, threshold);
            }
        }
        return best;
    }

    private void penalize(int[] text, int written, int length) {
        Sampling.Penalties penalties = sampling.penalties();
        if (penalties.repetition() != 1) {
            BitSet seen = new BitSet(logits.length);
            for (int place = 0; place < length; place++) {
                seen.set(text[place]);
            }
            seen.stream().forEach(token -> logits[token] = logits[token] > 0
                    ? logits[token] / penalties.repetition()
                    : logits[token] * penalties.repetition());
        }
        if (penalties.presence() != 0 || penalties.frequency() != 0) {
            BitSet seen = new BitSet(logits.length);
            for (int place = written; place < length; place++) {
                logits[text[place]] -= penalties.frequency() + (seen.get(text[place]) ? 0 : penalties.presence());
                seen.set(text[place]);
            }
        }
    }

    private int mostLikely() {
        int best = 0;
        for (int token = 1; token < logits.length; token++) {
            if (logits[token] > logits[best]) {
                best = token;
            }
        }
        return best;
    }

    /** Returns the smallest permitted logit by top-k and min-p; ties with it are included. */
    private double threshold(double largest) {
        double relative = sampling.minP() == 0
                ? Double.NEGATIVE_INFINITY
                : largest + sampling.temperature() * StrictMath.log(sampling.minP());
        if (sampling.topK() == 0 || sampling.topK() >= logits.length) {
            return relative;
        }
        return Math.max(relative, sorted[sorted.length - sampling.topK()]);
    }

    /** Returns the smallest logit among the most likely tokens with a total probability of p, after the other threshold. */
    private double nucleus(double threshold, double largest) {
        if (sampling.topP() == 1) {
            return threshold;
        }
        double total = 0;
        for (double logit : sorted) {
            total += weight(logit, largest, threshold);
        }
        double reached = 0;
        for (int place = sorted.length - 1; place > 0; place--) {
            reached += weight(sorted[place], largest, threshold);
            if (reached >= sampling.topP() * total) {
                return Math.max(threshold, sorted[place]);
            }
        }
        return threshold;
    }

    private double weight(double logit, double largest, double threshold) {
        return logit < threshold ? 0 : StrictMath.exp((logit - largest) / sampling.temperature());
    }
}
