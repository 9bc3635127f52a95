package dev.troupe.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
        assertEquals(new NodeClocks.Offset(50_080, 10), clocks.of(1));
        assertEquals(NodeClocks.Offset.NONE, clocks.of(0));
    }

    @Test
    void shouldTakeAnOffsetWithinItsErrorForNone() {
        clocks.answered(0, 1_000, 1_140, 1_200);
        assertEquals(new NodeClocks.Offset(0, 100), clocks.of(0));
    }

    @Test
    void shouldMeasureANewProcessAnew() {
        clocks.answered(1, 1_000, 51_000, 1_002);
        clocks.forget(1);
        clocks.answered(1, 2_000, 7_100, 2_200);
        assertEquals(new NodeClocks.Offset(5_000, 100), clocks.of(1));
    }
}
