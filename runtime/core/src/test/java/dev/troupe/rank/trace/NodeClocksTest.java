package dev.troupe.rank.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class NodeClocksTest {
    private final NodeClocks clocks = new NodeClocks();

    @Test
    void shouldTakeTheShortestRoundTrip() {
        clocks.answered(1, 1_000, 51_100, 1_300);
        clocks.answered(1, 2_000, 52_090, 2_020);
        clocks.answered(1, 3_000, 58_000, 9_000);
        assertEquals(Optional.of(new NodeClocks.Offset(50_080, 10, 2_020)), clocks.of(1));
        assertEquals(Optional.empty(), clocks.of(0));
    }

    @Test
    void shouldTakeAnOffsetWithinItsErrorForNone() {
        clocks.answered(0, 1_000, 1_140, 1_200);
        assertEquals(Optional.of(new NodeClocks.Offset(0, 100, 1_200)), clocks.of(0));
    }

    @Test
    void shouldMeasureANewProcessAnew() {
        clocks.answered(1, 1_000, 51_000, 1_002);
        clocks.forget(1);
        clocks.answered(1, 2_000, 7_100, 2_200);
        assertEquals(Optional.of(new NodeClocks.Offset(5_000, 100, 2_200)), clocks.of(1));
    }

    /**
     * A clock that runs ahead by 40 millionths is 144 ms ahead after an hour: its offset then differs from the first trip's.
     */
    @Test
    void shouldFollowAClockThatDrifts() {
        clocks.answered(1, 0, 7_010, 20);
        for (long second = 1; second <= 3_600; second++) {
            long asked = second * 1_000_000_000;
            clocks.answered(1, asked, 7_000 + asked + asked / 25_000 + 100_000, asked + 200_000);
        }
        assertEquals(144_000_000, clocks.of(1).orElseThrow().aheadNanos(), 400_000);
    }
}
