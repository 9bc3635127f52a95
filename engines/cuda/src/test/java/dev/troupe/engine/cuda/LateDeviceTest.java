package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Fence.Instants;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests of which calls of the engine wait for the device. */
@ExtendWith(DrawnOrders.class)
@Tag("parity")
class LateDeviceTest {
    /** A poll of a device's fence succeeds once in four times, at random, unless a call waits for it. */
    private static final int ROUNDS = 20;

    private final Engine engine = Interpreted.lateEngine(DataType.FLOAT32);
    private final float[] found = new float[3];

    private Tensor twos() {
        Tensor tensor = engine.allocate(DataType.FLOAT32, Shape.of(3));
        engine.fill(tensor, 2);
        return tensor;
    }

    @Test
    void shouldReachAFenceWithoutAWait() {
        twos();
        Fence made = engine.fence();
        int looks = 0;
        while (!made.isReached()) {
            assertTrue(looks++ < 1000, "the fence is not reached");
        }
        engine.close();
    }

    @Test
    void shouldCopyAtAFenceAndLeaveLaterKernels() {
        int waits = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Tensor tensor = twos();
            Fence made = engine.fence();
            Tensor other = twos();
            engine.scale(other, 2);
            Fence scaled = engine.fence();
            engine.toHost(tensor, 0, MemorySegment.ofArray(found), made).await();
            assertArrayEquals(new float[]{2, 2, 2}, found);
            assertTrue(made.isReached());
            waits += scaled.isReached() ? 1 : 0;
            engine.fromHost(MemorySegment.ofArray(new float[]{5}), tensor, 4, Fence.REACHED).await();
            engine.copyToHost(tensor, 0, MemorySegment.ofArray(found));
            assertArrayEquals(new float[]{2, 5, 2}, found);
            assertTrue(scaled.isReached());
        }
        assertTrue(waits < ROUNDS, "the copy has waited for kernels after its fence");
        engine.close();
    }

    @Test
    void shouldReportWhenTheDeviceWasDoneRatherThanCalled() {
        Instants instants = engine.instants(2);
        for (int round = 0; round < ROUNDS; round++) {
            instants.mark(0);
            twos();
            instants.mark(1);
            assertEquals(0, instants.nanos(1), "nobody has waited");
            long asked = System.nanoTime();
            instants.await(1);
            assertTrue(asked <= instants.nanos(0) && instants.nanos(0) <= instants.nanos(1)
                    && instants.nanos(1) <= System.nanoTime());
        }
        engine.close();
    }

    @Test
    void shouldNotWaitForWritesOfTheHostOrForSums() {
        int waits = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Tensor tensor = engine.allocate(DataType.FLOAT32, Shape.of(3));
            Tensor sums = engine.allocate(DataType.FLOAT64, Shape.of(1));
            Fence before = engine.fence();
            float[] numbers = {1, 2, 3};
            engine.copyFromHost(MemorySegment.ofArray(numbers), tensor, 0);
            numbers[0] = 100; // it has been read
            engine.sum(tensor, sums, 0);
            waits += before.isReached() ? 1 : 0;
            double[] sum = new double[1];
            engine.copyToHost(sums, 0, MemorySegment.ofArray(sum));
            assertArrayEquals(new double[]{6}, sum);
        }
        assertTrue(waits < ROUNDS, "the host has waited");
        engine.close();
    }
}
