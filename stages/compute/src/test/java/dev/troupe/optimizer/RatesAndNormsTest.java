package dev.troupe.optimizer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.layer.Linear;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Learning rates, the global norm and clipping, worked out by hand. */
class RatesAndNormsTest {
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

    @Test
    void shouldAddLayersInTheirOrderWhateverOrderTheyComeIn() {
        // Added one by one after the large sum, the small ones would be lost.
        List<LayerSquaredSum> sums = new ArrayList<>();
        for (int layer = 0; layer < 16; layer++) {
            sums.add(new LayerSquaredSum(layer, 0, 1));
        }
        sums.add(new LayerSquaredSum(16, 0, 0x1p53));
        double expected = Math.sqrt(0x1p53 + 16);
        assertTrue(expected > Math.sqrt(0x1p53), "the case must tell orders apart");
        assertEquals(expected, GlobalNorm.of(sums));
        assertEquals(expected, GlobalNorm.of(sums.reversed()));
    }

    @Test
    void shouldAddABlockInTheSameOrderWhereTwoStagesHaveItsHalves() {
        // 1 + 2^53 loses the 1, so the parameters of a block must be added before the block is.
        double whole = GlobalNorm.of(List.of(new LayerSquaredSum(0, 0, 0x1p53), new LayerSquaredSum(1, 0, 2)));
        assertEquals(Math.sqrt(0x1p53 + 2), whole);
        List<LayerSquaredSum> parts = List.of(new LayerSquaredSum(1, 6, 1), new LayerSquaredSum(0, 0, 0x1p53),
                new LayerSquaredSum(1, 0, 1));
        assertEquals(whole, GlobalNorm.of(parts));
        assertThrows(IllegalArgumentException.class, () -> GlobalNorm.of(List.of(parts.get(0), parts.get(1))));
    }

    @Test
    void shouldRefuseANormThatLacksALayerOrHasOneTwice() {
        LayerSquaredSum first = new LayerSquaredSum(0, 0, 1);
        LayerSquaredSum third = new LayerSquaredSum(2, 0, 1);
        assertThrows(IllegalArgumentException.class, () -> GlobalNorm.of(List.of(first, third)));
        assertThrows(IllegalArgumentException.class, () -> GlobalNorm.of(List.of(first, first)));
    }

    @Test
    void shouldClipAsTorchDoes() {
        assertEquals(0.5 / (2 + 1e-6), GlobalNorm.clipCoefficient(2, 0.5));
        assertEquals(1, GlobalNorm.clipCoefficient(0.4, 0.5));
        assertEquals(1, GlobalNorm.clipCoefficient(0, 0.5));
        assertEquals(1, GlobalNorm.clipCoefficient(1e9, 0));
        assertTrue(Double.isNaN(GlobalNorm.clipCoefficient(Double.NaN, 0.5)));
    }
}
