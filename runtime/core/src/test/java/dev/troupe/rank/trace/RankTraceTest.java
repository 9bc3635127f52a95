package dev.troupe.rank.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence.Instants;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.check.KernelHook;
import dev.troupe.engine.late.LateEngine;
import dev.troupe.engine.late.WrappedEngine;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.rank.idle.Cause;
import dev.troupe.rank.idle.RankTimes;
import dev.troupe.rank.idle.StepTimes;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Laps;
import dev.troupe.schedule.Plan;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("plan")
class RankTraceTest {
    private static final Plan PLAN = Plan.fromCsv("by hand", Laps.LOOP,
            "0F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n");
    private static final List<String> NODES = List.of("a", "b");
    private static final Engine ENGINE = new ReferenceEngine(DataType.FLOAT32);
    private static final Action FORWARD = new Action(1, Kind.FORWARD, 0);
    private static final Action BACKWARD = new Action(1, Kind.FULL_BACKWARD, 0);

    private final RankTrace trace = new RankTrace(1, 3, PLAN.rows().get(1), new Pauses(), ENGINE);

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

    /** Notes when an engine computes. */
    private static final class Witness implements KernelHook {
        private final List<Long> instants = new ArrayList<>();

        @Override
        public long begins(Kernel kernel) {
            instants.add(System.nanoTime());
            return 0;
        }

        @Override
        public void ended(Kernel kernel, long begun, Tensor result) {
            instants.add(System.nanoTime());
        }
    }

    /**
     * However late the device is, its work for an action lies between the action's start and end, and no other work does.
     */
    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void shouldHaveTheTimesOfADeviceThatComputesLate(long seed) {
        Witness device = new Witness();
        ReferenceEngine observed = new ReferenceEngine(DataType.FLOAT32);
        observed.observe(device);
        Engine engine = LateEngine.over(observed, seed);
        RankTrace late = new RankTrace(1, 3, PLAN.rows().get(1), new Pauses(), engine);
        Tensor tensor = engine.allocate(DataType.FLOAT32, Shape.of(3));
        Map<Action, Long> computed = new HashMap<>();
        for (int step = 0; step < 3; step++) {
            engine.fence().await();
            device.instants.clear();
            late.stepBegins(step);
            for (Action action : List.of(FORWARD, BACKWARD)) {
                late.begins(action);
                engine.fill(tensor, 1);
                late.ended(0);
            }
            late.handed(new Action(1, Kind.SEND_B, 0), 4096);
            engine.fence().await();
            late.computed(computed::put);
            RankTimes times = late.take();
            assertEquals(4, device.instants.size());
            assertTrue(times.startNanos(1) <= device.instants.get(0) && times.endNanos(1) >= device.instants.get(1));
            assertTrue(times.startNanos(2) <= device.instants.get(2) && times.endNanos(2) >= device.instants.get(3));
            assertTrue(times.endNanos(1) <= device.instants.get(2) && times.startNanos(2) >= device.instants.get(1));
            assertTrue(times.movedNanos(3) >= times.endNanos(2));
            assertEquals(times.ends()[1] - times.starts()[1], computed.get(FORWARD));
            assertEquals(times.ends()[2] - times.starts()[2], computed.get(BACKWARD));
        }
        assertTrue(late.isOfDevice() && !trace.isOfDevice());
        engine.close();
    }

    /** A device that reaches marks on command. */
    private static final class ToldDevice implements Instants {
        private final Set<Integer> marked = new HashSet<>();
        private final Map<Integer, Long> reached = new HashMap<>();

        Engine engine() {
            return WrappedEngine.of((method, arguments) -> switch (method.getName()) {
                case "computesLate" -> true;
                case "instants" -> this;
                default -> WrappedEngine.call(ENGINE, method, arguments);
            });
        }

        void reach() {
            marked.forEach(number -> reached.put(number, System.nanoTime()));
            marked.clear();
        }

        @Override
        public void mark(int number) {
            marked.add(number);
        }

        @Override
        public long nanos(int number) {
            return reached.getOrDefault(number, 0L);
        }

        @Override
        public void await(int number) {
            reach();
        }
    }

    private static void takeAMillisecond() {
        long end = System.nanoTime() + 1_000_000;
        while (System.nanoTime() - end < 0) {
            LockSupport.parkNanos(end - System.nanoTime());
        }
    }

    /**
     * Rows that are read while the device still has work cost nothing, and neither does a group that is waited for
     * meanwhile.
     */
    @Test
    void shouldCountTheIdleTimeOfTheDevice() {
        ToldDevice device = new ToldDevice();
        RankTrace late = new RankTrace(1, 3, PLAN.rows().get(1), new Pauses(), device.engine());
        late.stepBegins(1);
        late.begins(FORWARD);
        device.reach(); // it has nothing to do
        late.reads(RankTraceTest::takeAMillisecond);
        late.ended(0);
        device.reach();
        late.begins(BACKWARD);
        late.reads(RankTraceTest::takeAMillisecond);
        device.reach(); // it had work until now
        late.ended(3_600_000_000_000L);
        RankTimes times = late.take();
        assertTrue(times.dataNanos()[1] >= 1_000_000, () -> times.dataNanos()[1] + " ns");
        assertEquals(0, times.dataNanos()[2]);
        assertEquals(times.ends()[2] - times.starts()[2], times.groupNanos()[2]);
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
    void shouldAssembleAStepOnceEveryRankHasReportedIt() {
        StepTraces steps = new StepTraces(StepTimes.Rows.of(PLAN, 1, 1), StepTimes.Lengths.EQUAL);
        long begun = System.nanoTime();
        RankTrace firstTrace = new RankTrace(0, 0, PLAN.rows().get(0), new Pauses(), ENGINE);
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
        RankTrace elsewhere = new RankTrace(0, 0, PLAN.rows().get(0), new Pauses(), ENGINE);
        for (long ahead : List.of(3_600_000_000_000L, -3_600_000_000_000L)) {
            elsewhere.stepBegins(7);
            RankTimes there = elsewhere.take().shifted(ahead);
            steps.restarted(List.of(0));
            steps.begins(7, begun);
            steps.traced(7, here, System.nanoTime());
            steps.traced(7, there, System.nanoTime());
            assertEquals(Optional.empty(), steps.committed(7, NODES));
            steps.clockRead(0, begun, begun + ahead, begun);
            steps.traced(7, there, System.nanoTime());
            assertEquals(there.beginNanos() - ahead,
                    steps.committed(7, NODES).orElseThrow().ranks().getFirst().beginNanos());
        }
    }
}
