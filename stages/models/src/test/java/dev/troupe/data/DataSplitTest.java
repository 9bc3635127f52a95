package dev.troupe.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class DataSplitTest {
    @Test
    void shouldTakeTheEndForValidation() {
        DataSplit split = DataSplit.of(CountingTokens.of(100), 0.29, 5);
        assertEquals(71, split.training().length());
        assertEquals(29, split.validation().orElseThrow().length());
        assertEquals(71, split.validation().orElseThrow().at(0));
        assertThrows(IndexOutOfBoundsException.class, () -> split.training().at(71));
        assertTrue(DataSplit.of(CountingTokens.of(100), 0, 5).validation().isEmpty());
        assertEquals(100, DataSplit.of(CountingTokens.of(100), 0, 5).training().length());
    }

    @Test
    void shouldValidateOnAnotherCorpus() {
        DataSplit split = DataSplit.of(CountingTokens.of(100), CountingTokens.of(6), 5);
        assertEquals(100, split.training().length());
        assertEquals(6, split.validation().orElseThrow().length());
        assertThrows(DataException.class, () -> DataSplit.of(CountingTokens.of(100), CountingTokens.of(5), 5));
        assertThrows(DataException.class, () -> DataSplit.of(CountingTokens.of(5), CountingTokens.of(100), 5));
    }

    @Test
    void shouldRefuseAPartThatIsTooShort() {
        assertEquals(
                "counting has 100 tokens, of which data.validation-fraction = 0.05 leaves 95 for training and 5 for"
                        + " validation, but one sequence of 5 needs 6 in either; change the fraction (0 for none) or"
                        + " use more text",
                assertThrows(DataException.class, () -> DataSplit.of(CountingTokens.of(100), 0.05, 5)).getMessage());
        assertThrows(DataException.class, () -> DataSplit.of(CountingTokens.of(100), 0.95, 5));
        assertThrows(DataException.class, () -> DataSplit.of(CountingTokens.of(5), 0, 5));
        for (double fraction : new double[]{1, -0.1, Double.NaN}) {
            assertEquals("data.validation-fraction must be at least 0 and below 1, but found " + fraction,
                    assertThrows(DataException.class, () -> DataSplit.of(CountingTokens.of(100), fraction, 5))
                            .getMessage());
        }
    }
}
