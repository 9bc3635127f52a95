package dev.troupe.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Placement;
import dev.troupe.schedule.idle.Cause;
import dev.troupe.schedule.idle.RankTimes;
import dev.troupe.schedule.idle.StepTimes;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class RankTraceTest {
    private static final Plan PLAN = Plan.fromCsv("by hand", Placement.LOOP,
            "0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n");
    private static final List<String> NODES = List.of("a", "b");
    private static final Action FORWARD = new Action(1, Kind.FORWARD, 0);
    private static final Action BACKWARD = new Action(1, Kind.FULL_BACKWARD, 0);

    private final RankTrace trace = new RankTrace(1, 3, PLAN.rows().get(1), new Pauses());

    private RankTimes step() {
        trace.landed(new Action(1, Kind.RECV_F, 0)); // the sender was told of the step first
        trace.stepBegins(7);
        trace.begins(FORWARD);
        trace.reads(() -> LockSupport.parkNanos(1));
        trace.ended(17);
        trace.begins(BACKWARD);
        trace.ended(0);
        trace.handed(new Action(1, Kind.SEND_B, 0), 4096);
        trace.sent(new Action(1, Kind.SEND_B, 0), 29);
        return trace.take();
    }

    @Test
    void shouldRecordByThePositionInTheRow() {
        RankTimes times = step();
        assertEquals(1, times.moved()[0], "a landing before the rank was told counts from there");
        assertTrue(
                times.starts()[1] > 0 && times.ends()[1] >= times.starts()[1] && times.starts()[2] >= times.ends()[1]);
        assertTrue(times.moved()[3] >= times.ends()[2]);
        assertEquals(17, times.groupNanos()[1]);
        assertEquals(29, times.creditNanos()[3]);
        assertEquals(4096, times.bytes()[3]);
        assertTrue(times.dataNanos()[1] > 0 && times.dataNanos()[2] == 0);
        assertEquals(3, times.epoch());
    }

    @Test
    void shouldBeginANewWithEachStep() {
        step();
        trace.stepBegins(7);
        RankTimes empty = trace.take();
        for (long[] recorded : List.of(empty.starts(), empty.ends(), empty.moved(), empty.creditNanos())) {
            assertEquals(List.of(0L, 0L, 0L, 0L), LongStream.of(recorded).boxed().toList());
        }
    }

    @Test
    void shouldPutAStepTogetherOnceEveryRankHasToldIt() {
        StepTraces steps = new StepTraces(StepTimes.Rows.of(PLAN, 1, 1), StepTimes.Lengths.EQUAL);
        long begun = System.nanoTime();
        RankTrace firstTrace = new RankTrace(0, 0, PLAN.rows().get(0), new Pauses());
        firstTrace.stepBegins(7);
        RankTimes first = firstTrace.take();
        RankTimes second = step();
        steps.begins(7, begun);
        steps.traced(7, second, System.nanoTime());
        assertEquals(Optional.empty(), steps.committed(7, NODES), "rank 0 has told nothing");
        steps.begins(8, begun);
        steps.traced(8, second, System.nanoTime());
        steps.traced(8, first, System.nanoTime());
        assertEquals(0, steps.committed(8, NODES).orElseThrow().previousEndNanos(), "the end of step 7 is not known");
        steps.disturbed(Cause.STATE);
        steps.begins(9, begun);
        steps.traced(9, first, System.nanoTime());
        steps.traced(9, second, System.nanoTime());
        StepTimes third = steps.committed(9, NODES).orElseThrow();
        assertEquals(second.endNanos(2), third.previousEndNanos());
        assertEquals(Cause.STATE, third.between());
        assertEquals(NODES, third.nodes());
    }

    /** The clock of another machine counts from its own boot; before it has answered, a step has no times. */
    @Test
    void shouldLeaveOutTimesOfAClockThatItDoesNotKnow() {
        StepTraces steps = new StepTraces(StepTimes.Rows.of(PLAN, 1, 1), StepTimes.Lengths.EQUAL);
        long begun = System.nanoTime();
        RankTimes here = step();
        RankTrace elsewhere = new RankTrace(0, 0, PLAN.rows().get(0), new Pauses());
        for (long ahead : List.of(3_600_000_000_000L, -3_600_000_000_000L)) {
            elsewhere.stepBegins(7);
            RankTimes there = elsewhere.take().shifted(ahead);
            steps.restarted(List.of(0));
            steps.begins(7, begun);
            steps.traced(7, here, System.nanoTime());
            steps.traced(7, there, System.nanoTime());
            assertEquals(Optional.empty(), steps.committed(7, NODES));
            steps.clockTold(0, begun, begun + ahead, begun);
            steps.traced(7, there, System.nanoTime());
            assertEquals(there.beginNanos() - ahead,
                    steps.committed(7, NODES).orElseThrow().ranks().getFirst().beginNanos());
        }
    }
}
