package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class GlobalNormTest {
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
    void shouldAddABlockInTheSameOrderIfTwoStagesHaveItsHalves() {
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
