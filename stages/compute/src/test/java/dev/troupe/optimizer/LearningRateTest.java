package dev.troupe.optimizer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Learning rates, worked out by hand. */
class LearningRateTest {
    private static final double EXACT = 1e-15;

    @Test
    void shouldWarmUpToThePeakAndStay() {
        LearningRate rate = new LearningRate.Constant(0.8, 4);
        assertEquals(0.2, rate.at(0), EXACT);
        assertEquals(0.4, rate.at(1), EXACT);
        assertEquals(0.8, rate.at(3), EXACT);
        assertEquals(0.8, rate.at(4), EXACT);
        assertEquals(0.8, rate.at(1_000_000), EXACT);
        assertEquals(0.8, new LearningRate.Constant(0.8, 0).at(0), EXACT);
    }

    @Test
    void shouldFallByACosineToTheMinimumAtDecaySteps() {
        LearningRate rate = new LearningRate.Cosine(1.0, 0.2, 2, 10);
        assertEquals(0.5, rate.at(0), EXACT);
        assertEquals(1.0, rate.at(1), EXACT);
        assertEquals(1.0, rate.at(2), EXACT);
        assertEquals(0.2 + 0.8 * (1 + Math.sqrt(0.5)) / 2, rate.at(4), EXACT);
        assertEquals(0.6, rate.at(6), EXACT);
        assertEquals(0.2, rate.at(10), EXACT);
        assertEquals(0.2, rate.at(1_000_000), EXACT);
        assertEquals(0.2, new LearningRate.Cosine(1.0, 0.2, 5, 3).at(5), EXACT);
        assertEquals(0.8, new LearningRate.Cosine(1.0, 0.2, 5, 3).at(3), EXACT);
    }

    @Test
    void shouldFallInAStraightLineFromThePeakToTheMinimum() {
        LearningRate rate = new LearningRate.Linear(1.0, 0.2, 2, 10);
        // Steps 0 and 1 warm up; from 2 to 10 a tenth less each: 1 - 0.8 (k - 2) / 8.
        double[] expected = {0.5, 1.0, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.2, 0.2};
        for (int step = 0; step < expected.length; step++) {
            assertEquals(expected[step], rate.at(step), EXACT, "step " + step);
        }
        assertEquals(1.0, new LearningRate.Linear(1.0, 0, 0, 1).at(0), EXACT);
        assertEquals(0, new LearningRate.Linear(1.0, 0, 0, 1).at(1), EXACT);
        assertEquals(0.8, new LearningRate.Linear(1.0, 0.2, 5, 3).at(3), EXACT);
        assertEquals(0.2, new LearningRate.Linear(1.0, 0.2, 5, 3).at(5), EXACT);
    }

    @Test
    void shouldStayAtThePeakUntilTheDecayBegins() {
        LearningRate rate = new LearningRate.Wsd(1.0, 0.2, 2, 6, 10);
        // Warm-up 0 and 1, stable 2 to 5, and the decay from step 6, which has the peak still: 1 - 0.8 (k - 6) / 4.
        double[] expected = {0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2, 0.2};
        for (int step = 0; step < expected.length; step++) {
            assertEquals(expected[step], rate.at(step), EXACT, "step " + step);
        }
        // A decay that is not there yet, and one without a stable part.
        assertEquals(1.0, new LearningRate.Wsd(1.0, 0.2, 0, 1000, 10).at(999), EXACT);
        assertEquals(0.2, new LearningRate.Wsd(1.0, 0.2, 0, 1000, 10).at(1000), EXACT);
        assertEquals(new LearningRate.Linear(1.0, 0.2, 2, 10).at(5), new LearningRate.Wsd(1.0, 0.2, 2, 2, 10).at(5));
    }

    @Test
    void shouldRefuseRatesThatMakeNoSense() {
        assertThrows(IllegalArgumentException.class, () -> new LearningRate.Constant(-1, 0));
        assertThrows(IllegalArgumentException.class, () -> new LearningRate.Constant(Double.NaN, 0));
        assertThrows(IllegalArgumentException.class, () -> new LearningRate.Cosine(0.1, 0.2, 0, 5));
        assertThrows(IllegalArgumentException.class, () -> new LearningRate.Cosine(0.1, 0, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> new LearningRate.Linear(0.1, 0.2, 0, 5));
        assertThrows(IllegalArgumentException.class, () -> new LearningRate.Linear(0.1, 0, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> new LearningRate.Wsd(0.1, 0.2, 0, 2, 5));
        assertThrows(IllegalArgumentException.class, () -> new LearningRate.Wsd(0.1, 0, 3, 2, 5));
        assertThrows(IllegalArgumentException.class, () -> new LearningRate.Wsd(0.1, 0, 0, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> new Optimizer.AdamW(1, 0.9, 1e-8, 0));
        assertThrows(IllegalArgumentException.class, () -> new Optimizer.AdamW(0.9, 0.9, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> new Optimizer.Sgd(-0.1));
    }
}
