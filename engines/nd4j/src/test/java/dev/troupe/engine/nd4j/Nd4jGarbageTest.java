package dev.troupe.engine.nd4j;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.provider.EngineSettings;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Kernels while the collector is at work. ND4J frees what nothing in Java leads to, from a thread of its own; a kernel that
 * lets go of an array too early reads freed memory, and then this whole JVM ends.
 */
@Tag("long")
class Nd4jGarbageTest {
    private static final int CALLS = 300_000;
    private static final int GARBAGE_BYTES = 200_000;

    private volatile byte[] garbage;

    @Test
    void shouldComputeWhileTheCollectorRuns() throws InterruptedException {
        AtomicBoolean isOver = new AtomicBoolean();
        Thread littering = new Thread(() -> {
            while (!isOver.get()) {
                garbage = new byte[GARBAGE_BYTES];
            }
        }, "garbage");
        try (Engine engine = new Nd4jEngineProvider().open(new EngineSettings(DataType.FLOAT32, 1))) {
            Tensor x = engine.allocate(DataType.FLOAT32, Shape.of(8, 16));
            Tensor weight = engine.allocate(DataType.FLOAT32, Shape.of(16, 24));
            Tensor bias = engine.allocate(DataType.FLOAT32, Shape.of(24));
            Tensor y = engine.allocate(DataType.FLOAT32, Shape.of(8, 24));
            engine.fill(x, 1);
            engine.fill(weight, 0.5);
            littering.start();
            for (int call = 0; call < CALLS; call++) {
                engine.fill(bias, call % 8);
                engine.linear(x, weight, false, bias, y);
            }
            float[] last = new float[1];
            engine.copyToHost(y, 0, MemorySegment.ofArray(last));
            assertEquals(8 + (CALLS - 1) % 8, last[0]);
        } finally {
            isOver.set(true);
            littering.join();
        }
    }
}
