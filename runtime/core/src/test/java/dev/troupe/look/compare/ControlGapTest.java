package dev.troupe.look.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class ControlGapTest {
    @Test
    void shouldCountOnlyActionsThatWaitForNothing() {
        // rank 0   0F0   0F1
        // rank 1              1F0 1F1      1F0 waits for its input, 1F1 does not
        Timeline step = new Timeline("", 2, 2, List.of(span(0, "0F0", 0, 10), span(0, "0F1", 13, 20),
                span(1, "1F0", 30, 40), span(1, "1F1", 47, 50)));
        assertEquals(5, ControlGap.nanos(List.of(step), Set.of()), "the mean of 3 and 7");
        assertEquals(3, ControlGap.nanos(List.of(step), Set.of(Action.parse("1F1"))), "a pair waits for two inputs");
    }

    @Test
    void shouldBeNothingIfNothingFollows() {
        assertEquals(0, ControlGap.nanos(List.of(new Timeline("", 1, 1, List.of(span(0, "0F0", 0, 10)))), Set.of()));
    }

    private static Span span(int rank, String action, long start, long end) {
        return new Span(rank, Action.parse(action), start, end);
    }
}
