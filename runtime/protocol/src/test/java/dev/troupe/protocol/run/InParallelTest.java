package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("simulation")
class InParallelTest {
    private static final int TRIALS = 1000;

    @Test
    void shouldAddUpAllTrials() {
        assertEquals(TRIALS, InParallel.sum(IntStream.range(0, TRIALS).boxed(), _ -> 1));
    }

    @Test
    void shouldThrowTheFailureOfATrialAndNoCopy() {
        AssertionError failure = new AssertionError("the seed");
        assertSame(failure, assertThrows(AssertionError.class,
                () -> InParallel.sum(IntStream.range(0, TRIALS).boxed(), _ -> {
                    throw failure;
                })));
    }
}
