package dev.troupe.look.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class DecisionGapTest {
    @Test
    void shouldCountFromTheLastNormToTheFirstUpdate() {
        // rank 0   NORM          UPDATE
        // rank 1       NORM     UPDATE
        Timeline step = new Timeline("", 2, 2, List.of(span(0, "0NORM", 0, 10), span(0, "0UPDATE", 28, 30),
                span(1, "1NORM", 10, 20), span(1, "1UPDATE", 27, 30)));
        assertEquals(7, DecisionGap.nanos(List.of(step)));
    }

    @Test
    void shouldBeNothingIfNothingIsDecided() {
        assertEquals(0, DecisionGap.nanos(List.of()));
        assertEquals(0, DecisionGap.nanos(List.of(new Timeline("", 1, 1, List.of(span(0, "0F0", 0, 10))))));
    }

    private static Span span(int rank, String action, long start, long end) {
        return new Span(rank, Action.parse(action), start, end);
    }
}
