package dev.troupe.look.figure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("plan")
final class PairedRatioTest {
    /** Known intervals of the median: number of values, rank of the lower end, confidence. */
    @ParameterizedTest
    @CsvSource({"1, 1, 0", "5, 1, 0.9375", "6, 1, 0.96875", "10, 2, 0.978515625", "15, 4, 0.96484375",
            "30, 10, 0.95722",
            "3000, 1446, 0.953434"})
    void shouldHaveTheIntervalOfTheSignTest(int pairs, int lowRank, double confidence) {
        List<Double> times = IntStream.rangeClosed(1, pairs).mapToObj(Double::valueOf).toList();
        PairedRatio ratio = PairedRatio.of(times.reversed(), Collections.nCopies(pairs, 1.0));
        assertEquals(lowRank, ratio.low());
        assertEquals(pairs + 1 - lowRank, ratio.high());
        assertEquals((pairs + 1) / 2.0, ratio.median());
        assertEquals(confidence, ratio.confidence(), 1e-5);
    }

    /** Both times of a pair grow by the same disturbance: their ratio is exact. */
    @Test
    void shouldNotBeAffectedByADisturbanceOfBoth() {
        Random random = new Random(7);
        List<Double> others = IntStream.range(0, 20).mapToObj(_ -> 1 + 10 * random.nextDouble()).toList();
        List<Double> times = others.stream().map(time -> time * 0.75).toList();
        PairedRatio ratio = PairedRatio.of(times, others);
        assertEquals(0.75, ratio.median(), 1e-12);
        assertTrue(ratio.isApart());
        assertFalse(PairedRatio.of(others, others).isApart());
    }

    /** Of 2,000 drawn measurements without a difference, at most 5 % are reported to differ, and some are. */
    @Test
    void shouldErrAtItsStatedRate() {
        Random random = new Random(11);
        long apart = IntStream.range(0, 2000).filter(_ -> PairedRatio.of(
                IntStream.range(0, 15).mapToObj(_ -> Math.exp(random.nextGaussian())).toList(),
                Collections.nCopies(15, 1.0)).isApart()).count();
        assertTrue(apart > 20 && apart < 100, "expected some 70 of 2,000, but found " + apart);
    }

    @Test
    void shouldRefuseUnpairedTimes() {
        assertThrows(IllegalArgumentException.class, () -> PairedRatio.of(List.of(1.0, 2.0), List.of(1.0)));
        assertThrows(IllegalArgumentException.class, () -> PairedRatio.of(List.of(), List.of()));
    }
}
