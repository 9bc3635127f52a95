package dev.troupe.engine.emulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.provider.Work;
import dev.troupe.engine.provider.WorkClock;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("real")
class EmulatedEngineTest {
    private static final long COST_NANOS = 3_000_000;
    private static final long WAKE_UP_NANOS = 60_000;
    private static final EngineSettings SETTINGS = new EngineSettings(DataType.FLOAT32, DataType.FLOAT32, 1,
            (stage, work) -> stage == 2 && work == Work.BACKWARD_INPUT ? COST_NANOS : 0);

    /** A machine on which only sleeping takes time, and that wakes up late. */
    private static final class Machine {
        private long nanos = 17;
        private long lateNanos = WAKE_UP_NANOS;
        private int sleeps;

        private void sleep(long asked) {
            assertTrue(asked > 0, () -> "asked to sleep for " + asked + " ns");
            sleeps++;
            nanos += asked + lateNanos;
        }

        private WorkClock clock() {
            return new EmulatedClock(SETTINGS.costs(), () -> nanos, this::sleep);
        }

        /** The time of a work with {@code ownNanos} in the calls of the stage. */
        private long taken(WorkClock clock, int stage, Work work, long ownNanos) {
            long start = nanos;
            clock.begins(stage, work);
            nanos += ownNanos;
            clock.ends();
            return nanos - start;
        }
    }

    @Test
    void shouldTakeTheConfiguredTimeAfterLearningTheTimeOfAWakeUp() {
        Machine machine = new Machine();
        WorkClock clock = machine.clock();
        long first = machine.taken(clock, 2, Work.BACKWARD_INPUT, 0);
        assertEquals(COST_NANOS + WAKE_UP_NANOS, first, "nothing is known yet");
        for (int round = 0; round < 100; round++) {
            machine.taken(clock, 2, Work.BACKWARD_INPUT, 0);
        }
        long all = 0;
        for (int round = 0; round < 100; round++) {
            long taken = machine.taken(clock, 2, Work.BACKWARD_INPUT, 1_000_000);
            assertEquals(COST_NANOS, taken, COST_NANOS / 100, "round " + round);
            all += taken;
        }
        assertEquals(100 * COST_NANOS, all, 100 * COST_NANOS / 1000);
    }

    @Test
    void shouldSleepAgainIfItWakesEarly() {
        Machine machine = new Machine();
        machine.lateNanos = 0;
        WorkClock clock = machine.clock();
        ExactSleep sleep = new ExactSleep(() -> machine.nanos, asked -> machine.nanos += Math.max(1, asked / 2));
        long deadline = machine.nanos + COST_NANOS;
        sleep.until(deadline);
        assertEquals(deadline, machine.nanos);
        assertEquals(COST_NANOS, machine.taken(clock, 2, Work.BACKWARD_INPUT, 0));
    }

    @Test
    void shouldNotSleepForWorkWithoutCostOrBeyondIt() {
        Machine machine = new Machine();
        WorkClock clock = machine.clock();
        assertEquals(0, machine.taken(clock, 0, Work.FORWARD, 0));
        assertEquals(COST_NANOS + 1, machine.taken(clock, 2, Work.BACKWARD_INPUT, COST_NANOS + 1));
        assertEquals(0, machine.sleeps);
    }

    @Test
    void shouldLetRealTimePass() {
        WorkClock clock = new EmulatedEngineProvider().clock(SETTINGS);
        for (int round = 0; round < 20; round++) {
            long start = System.nanoTime();
            clock.begins(2, Work.BACKWARD_INPUT);
            clock.ends();
            long taken = System.nanoTime() - start;
            // Only a lower bound: the delay of a loaded machine is for a benchmark to measure.
            assertTrue(taken > COST_NANOS - 250_000, () -> "took " + taken + " ns");
        }
    }

    @Test
    void shouldCountTensorsWithoutMemory() {
        try (Engine engine = open()) {
            assertFalse(engine.holdsValues());
            Tensor tensor = engine.allocate(DataType.FLOAT32, Shape.of(1 << 20, 1 << 10));
            assertEquals(4L << 30, engine.allocatedBytes());
            tensor.close();
            tensor.close();
            assertEquals(0, engine.allocatedBytes());
        }
    }

    @Test
    void shouldBeTheLastChoiceOfAuto() {
        EngineProvider provider = ServiceLoader.load(EngineProvider.class).findFirst().orElseThrow();
        assertEquals("emulated", provider.kind());
        assertEquals(Integer.MIN_VALUE, provider.preference());
    }

    private static Engine open() {
        return new EmulatedEngineProvider().open(SETTINGS);
    }
}
