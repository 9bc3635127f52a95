package dev.troupe.generate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.generate.Sampling.Penalties;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The tokens that a rule permits, with their probabilities, for a few logits that can be computed by hand. */
@Tag("parity")
class SamplerTest {
    private static final double[] LOGITS = {Math.log(8), Math.log(4), Math.log(2), Math.log(1), Math.log(1)};

    @Test
    void shouldDrawFromAShareOfTheLargestProbability() {
        assertArrayEquals(new double[]{8 / 14.0, 4 / 14.0, 2 / 14.0, 0, 0}, withMinP(1, 0.2), 1e-12);
        assertArrayEquals(new double[]{64 / 80.0, 16 / 80.0, 0, 0, 0}, withMinP(0.5, 0.2), 1e-12);
        assertArrayEquals(new double[]{8 / 16.0, 4 / 16.0, 2 / 16.0, 1 / 16.0, 1 / 16.0}, withMinP(1, 0), 1e-12);
    }

    private static double[] withMinP(double temperature, double minP) {
        Sampling sampling = new Sampling(temperature, 0, 1, minP, Penalties.NONE, 1);
        return new Sampler(sampling, LOGITS.length).distribution(LOGITS, new int[0], 0, 0);
    }

    @Test
    void shouldDivideLogitsOfEarlierTokensAndMultiplyNegativeOnes() {
        double[] logits = {2, 1, -1, 0};
        int[] text = {0, 2, 2, 0};
        double[] expected = softmax(2 / 1.5, 1, -1 * 1.5, 0);
        assertArrayEquals(expected, distribution(new Penalties(1.5, 0, 0), logits, text, 4), 1e-12);
        assertArrayEquals(expected, distribution(new Penalties(1.5, 0, 0), logits, text, 0), 1e-12);
    }

    @Test
    void shouldTakePresenceAndFrequencyFromTheTextAlone() {
        double[] logits = {2, 1, -1, 0};
        int[] text = {0, 0, 2, 2, 1};
        assertArrayEquals(softmax(2, 1 - 0.5, -1 - 0.5, 0), distribution(new Penalties(1, 0.5, 0), logits, text, 2),
                1e-12);
        assertArrayEquals(softmax(2, 1 - 0.25, -1 - 0.5, 0), distribution(new Penalties(1, 0, 0.25), logits, text, 2),
                1e-12);
        assertArrayEquals(softmax(2, 1, -1, 0), distribution(new Penalties(1, 1, 1), logits, text, 5), 1e-12);
    }

    private static double[] distribution(Penalties penalties, double[] logits, int[] text, int written) {
        Sampling sampling = new Sampling(1, 0, 1, 0, penalties, 1);
        return new Sampler(sampling, logits.length).distribution(logits, text, written, text.length);
    }

    private static double[] softmax(double... logits) {
        double total = 0;
        for (double logit : logits) {
            total += Math.exp(logit);
        }
        double[] probabilities = new double[logits.length];
        for (int i = 0; i < logits.length; i++) {
            probabilities[i] = Math.exp(logits[i]) / total;
        }
        return probabilities;
    }

    @Test
    void shouldDrawBySeedAndPosition() {
        Sampling sampling = new Sampling(1, 0, 1);
        assertEquals(texts(sampling), texts(sampling));
        assertNotEquals(texts(sampling), texts(sampling.ofAnswer(1)));
        assertEquals(texts(new Sampling(1, 0, 3)), texts(sampling.ofAnswer(2)));
    }

    private static String texts(Sampling sampling) {
        Sampler sampler = new Sampler(sampling, LOGITS.length);
        StringBuilder drawn = new StringBuilder();
        for (int length = 0; length < 60; length++) {
            drawn.append(sampler.draw(LOGITS, new int[length], length, length));
        }
        return drawn.toString();
    }

    @Test
    void shouldRefuseRulesWithoutADistribution() {
        assertThrows(IllegalArgumentException.class, () -> new Sampling(1, 0, 1, 1, Penalties.NONE, 1));
        assertThrows(IllegalArgumentException.class, () -> new Sampling(1, 0, 1, -0.1, Penalties.NONE, 1));
        assertThrows(IllegalArgumentException.class, () -> new Sampling(1, 0, 1, Double.NaN, Penalties.NONE, 1));
        assertThrows(IllegalArgumentException.class, () -> new Sampling(1, 0, 1.1, 0, Penalties.NONE, 1));
        assertThrows(IllegalArgumentException.class, () -> new Penalties(0, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> new Penalties(1, 2.1, 0));
        assertThrows(IllegalArgumentException.class, () -> new Penalties(1, 0, Double.NaN));
    }
}
