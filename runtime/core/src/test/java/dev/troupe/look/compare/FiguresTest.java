package dev.troupe.look.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.look.figure.StepTime;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.timeline.Span;
import dev.troupe.schedule.timeline.Timeline;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Figures of measured steps: hop, time of a step, control. */
@Tag("plan")
class FiguresTest {
    /**
     * <pre>
     * rank 0  0F0[0,10]  0F1[10,20]                    0B0[44,50]     0B1[70,76]
     * rank 1             1F0[13,23]  1F1[23,33] 1B0[33,40]  1B1[40,61]
     * </pre>
     *
     * 1F0 waited 3 for 0F0, 0B0 waited 4 for 1B0, 0B1 waited 9 for 1B1; 1F1 waited for 1F0 and does not count. The mean of
     * 3, 4 and 9 is 5 1/3.
     */
    @Test
    void shouldReadTheHopOffWaitsForNothingElse() {
        Timeline step = step(span(0, "0F0", 0, 10), span(0, "0F1", 10, 20), span(1, "1F0", 13, 23),
                span(1, "1F1", 23, 33), span(1, "1B0", 33, 40), span(1, "1B1", 40, 61), span(0, "0B0", 44, 50),
                span(0, "0B1", 70, 76));
        assertEquals(new Hop(5, Double.POSITIVE_INFINITY), HopMeasure.of(List.of(step), Set.of()));
        // An action of a pair waits for the other's input too: without 0B1 it is the mean of 3 and 4, rounded up.
        assertEquals(4, HopMeasure.of(List.of(step), Set.of(Action.parse("0B1"))).latencyNanos());
        assertEquals(4, HopMeasure.of(List.of(step), Set.of(Action.parse("1B1"))).latencyNanos());
    }

    @Test
    void shouldTakeTheMedianOverAllSteps() {
        assertEquals(5, HopMeasure.of(List.of(forwards(100), forwards(5), forwards(2)), Set.of()).latencyNanos());
    }

    @Test
    void shouldTakeAHopThatNobodyWaitedForAsFree() {
        assertEquals(Hop.FREE, HopMeasure.of(List.of(step(span(0, "0F0", 0, 10), span(0, "0B0", 10, 20))), Set.of()));
    }

    @Test
    void shouldGiveMiddleAndEndsOfTheTimesOfSteps() {
        assertEquals(new StepTime(2, 1, 9), StepTime.of(List.of(9.0, 1.0, 2.0)));
        assertEquals(new StepTime(2.5, 1, 9), StepTime.of(List.of(9.0, 1.0, 2.0, 3.0)),
                "between the two in the middle");
    }

    @Test
    void shouldGiveThePercentilesOfControl() {
        assertEquals(new ControlTime(200, 100, 180, 198),
                ControlTime.of(LongStream.rangeClosed(1, 200).boxed().toList().reversed()));
        assertEquals(new ControlTime(1, 7, 7, 7), ControlTime.of(List.of(7L)));
        assertEquals(new ControlTime(0, 0, 0, 0), ControlTime.of(List.of()));
    }

    private static Timeline forwards(long wait) {
        return step(span(0, "0F0", 0, 10), span(1, "1F0", 10 + wait, 20 + wait));
    }

    private static Timeline step(Span... spans) {
        return new Timeline("", 2, 2, List.of(spans));
    }

    private static Span span(int rank, String action, long start, long end) {
        return new Span(rank, Action.parse(action), start, end);
    }
}
