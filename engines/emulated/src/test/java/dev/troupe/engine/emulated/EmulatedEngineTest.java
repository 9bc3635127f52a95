package dev.troupe.engine.emulated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.EngineProvider;
import dev.troupe.engine.EngineSettings;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.Work;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("real")
class EmulatedEngineTest {
    private static final long COST_NANOS = 3_000_000;

    @Test
    void shouldTakeAtLeastNearlyTheTimeItIsTold() {
        try (Engine engine = open()) {
            for (int round = 0; round < 20; round++) {
                long start = System.nanoTime();
                engine.workStarts(2, Work.BACKWARD_INPUT);
                engine.workEnds();
                long taken = System.nanoTime() - start;
                // Only the lower end: how late a loaded machine is, is for a benchmark to say.
                assertTrue(taken > COST_NANOS - 250_000, () -> "took " + taken + " ns");
            }
        }
    }

    @Test
    void shouldNotWaitForWorkThatCostsNothing() {
        try (Engine engine = open()) {
            long start = System.nanoTime();
            engine.workStarts(0, Work.FORWARD);
            engine.workEnds();
            assertTrue(System.nanoTime() - start < COST_NANOS * 100);
        }
    }

    @Test
    void shouldCountTensorsThatHaveNoMemory() {
        try (Engine engine = open()) {
            assertFalse(engine.computes());
            Tensor tensor = engine.allocate(DataType.FLOAT32, Shape.of(1 << 20, 1 << 10));
            assertEquals(4L << 30, engine.allocatedBytes());
            tensor.close();
            tensor.close();
            assertEquals(0, engine.allocatedBytes());
        }
    }

    @Test
    void shouldBeTheLastThatAutoTakes() {
        EngineProvider provider = ServiceLoader.load(EngineProvider.class).findFirst().orElseThrow();
        assertEquals("emulated", provider.kind());
        assertEquals(Integer.MIN_VALUE, provider.preference());
    }

    private static Engine open() {
        return new EmulatedEngineProvider().open(new EngineSettings(DataType.FLOAT32, DataType.FLOAT32, 1,
                (stage, work) -> stage == 2 && work == Work.BACKWARD_INPUT ? COST_NANOS : 0));
    }
}
