package dev.troupe.generate;

import dev.troupe.engine.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.random.RandomGenerator;

/** The sampler, which draws token ids from logits. */
final class Sampler {
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);

    private final double[] logits;
    private final double[] sorted;

    Sampler(int vocabularySize) {
        logits = new double[vocabularySize];
        sorted = new double[vocabularySize];
    }

    /** Returns one token id; the logits are of the whole vocabulary in the given type. */
    int draw(MemorySegment hostLogits, DataType type, Sampling sampling, RandomGenerator random) {
        for (int token = 0; token < logits.length; token++) {
            logits[token] = type == DataType.FLOAT32
                    ? hostLogits.getAtIndex(FLOAT, token)
                    : hostLogits.getAtIndex(DOUBLE, token);
        }
        int best = mostLikely();
        if (sampling.temperature() == 0) {
            return best;
        }
        double threshold = nucleus(threshold(sampling.topK()), logits[best], sampling);
        double total = 0;
        for (double logit : logits) {
            total += weight(logit, logits[best], threshold, sampling.temperature());
        }
        double draw = random.nextDouble() * total;
        for (int token = 0; token < logits.length; token++) {
            draw -= weight(logits[token], logits[best], threshold, sampling.temperature());
            if (draw < 0) {
                return token;
            }
        }
        // Rounding can leave a remainder of the draw, and NaN logits leave all of it.
        return best;
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

    /** Returns the smallest logit among the most likely k tokens; ties with it are included. */
    private double threshold(int topK) {
        if (topK == 0 || topK >= logits.length) {
            return Double.NEGATIVE_INFINITY;
        }
        System.arraycopy(logits, 0, sorted, 0, logits.length);
        Arrays.sort(sorted);
        return sorted[sorted.length - topK];
    }

    /** Returns the smallest logit among the most likely tokens with a total probability of p, after the other threshold. */
    private double nucleus(double threshold, double largest, Sampling sampling) {
        if (sampling.topP() == 1) {
            return threshold;
        }
        System.arraycopy(logits, 0, sorted, 0, logits.length);
        Arrays.sort(sorted);
        double total = 0;
        for (double logit : sorted) {
            total += weight(logit, largest, threshold, sampling.temperature());
        }
        double reached = 0;
        for (int place = sorted.length - 1; place > 0; place--) {
            reached += weight(sorted[place], largest, threshold, sampling.temperature());
            if (reached >= sampling.topP() * total) {
                return Math.max(threshold, sorted[place]);
            }
        }
        return threshold;
    }

    private static double weight(double logit, double largest, double threshold, double temperature) {
        return logit < threshold ? 0 : StrictMath.exp((logit - largest) / temperature);
    }
}
