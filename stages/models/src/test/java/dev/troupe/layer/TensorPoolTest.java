package dev.troupe.layer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.reference.ReferenceEngine;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tensors that are used again. */
class TensorPoolTest {
    private static final Shape SHAPE = Shape.of(2, 3);

    private final Engine engine = new ReferenceEngine(DataType.FLOAT32);
    private final TensorPool pool = new TensorPool(engine);

    @AfterEach
    void closeEngine() {
        engine.close();
    }

    @Test
    void shouldUseATensorAgainForItsTypeAndShapeOnly() {
        Tensor tensor = pool.take(SHAPE);
        pool.give(tensor);
        assertNotSame(tensor, pool.take(Shape.of(3, 2)));
        assertNotSame(tensor, pool.take(DataType.INT32, SHAPE));
        assertSame(tensor, pool.take(DataType.FLOAT32, Shape.of(2, 3)));
        assertNotSame(tensor, pool.take(SHAPE));
    }

    @Test
    void shouldRefuseATensorGivenTwiceOrFromElsewhere() {
        Tensor tensor = pool.take(SHAPE);
        pool.give(tensor);
        assertThrows(IllegalArgumentException.class, () -> pool.give(tensor));
        Tensor foreign = engine.allocate(DataType.FLOAT32, SHAPE);
        assertThrows(IllegalArgumentException.class, () -> pool.give(foreign));
    }

    @Test
    void shouldExchangeTensorsWithAnotherPool() {
        try (TensorPool other = new TensorPool(engine)) {
            Tensor own = pool.take(SHAPE);
            Tensor others = other.take(SHAPE);
            pool.exchange(own, other, others);
            assertThrows(IllegalArgumentException.class, () -> pool.give(own));
            other.give(own);
            pool.give(others);
            assertSame(others, pool.take(SHAPE));
            assertSame(own, other.take(SHAPE));
            Tensor larger = other.take(Shape.of(4, 3));
            assertThrows(IllegalArgumentException.class, () -> pool.exchange(others, other, larger));
            pool.close();
        }
        assertEquals(0, engine.allocatedBytes());
    }

    @Test
    void shouldUseABufferOfTheLongestForEveryLength() {
        TensorPool.Extent extent = new TensorPool.Extent(6, length -> Shape.of(2 * length, 3));
        Tensor whole = pool.take(extent, 6);
        long bytes = engine.allocatedBytes();
        pool.give(whole);
        Tensor shorter = pool.take(extent, 4);
        assertEquals(Shape.of(8, 3), shorter.shape());
        Tensor other = pool.reshape(shorter, extent.of(2));
        assertEquals(Shape.of(4, 3), other.shape());
        assertThrows(IllegalArgumentException.class, () -> pool.give(shorter), "it has another shape now");
        pool.give(other);
        assertSame(shorter, pool.take(extent, 4), "each is made once");
        assertEquals(bytes, engine.allocatedBytes());
        assertEquals(Shape.of(8, 3), pool.takeLike(shorter).shape());
        assertEquals(2 * bytes, engine.allocatedBytes());
    }

    @Test
    void shouldDeriveTheLengthFromTheRows() {
        TensorPool.Extent extent = new TensorPool.Extent(6, length -> Shape.of(2 * length, 3));
        assertEquals(2, extent.lengthOf(4));
        assertEquals(6, extent.lengthOf(12));
        assertEquals(6, extent.lengthOf(5), "no microbatch has so many");
        assertEquals(6, extent.lengthOf(14), "no microbatch has so many");
        assertEquals(6, extent.lengthOf(0), "no microbatch has so many");
    }

    @Test
    void shouldReportItsFreeBuffers() {
        assertEquals(TensorPool.Free.NONE, pool.free());
        Tensor taken = pool.take(SHAPE);
        pool.give(pool.take(Shape.of(7)));
        assertEquals(new TensorPool.Free(7 * Float.BYTES, 7 * Float.BYTES), pool.free());
        pool.give(taken);
        assertEquals(new TensorPool.Free(13 * Float.BYTES, 7 * Float.BYTES), pool.free());
    }

    @Test
    void shouldCloseTensorsThatAreTakenToo() {
        pool.take(SHAPE);
        pool.give(pool.take(Shape.of(7)));
        pool.close();
        assertEquals(0, engine.allocatedBytes());
    }

    @Test
    void shouldTakeBackFromOtherThreadsWithoutAllocatingMore() throws Exception {
        int inFlight = 4;
        BlockingQueue<Tensor> sent = new ArrayBlockingQueue<>(inFlight);
        try (ExecutorService other = Executors.newSingleThreadExecutor()) {
            Future<?> giver = other.submit(() -> {
                for (int i = 0; i < 10_000; i++) {
                    pool.give(sent.take());
                }
                return null;
            });
            for (int i = 0; i < 10_000; i++) {
                sent.put(pool.take(SHAPE));
            }
            giver.get(30, TimeUnit.SECONDS);
        }
        // One in each place of the queue, one in each hand.
        long most = (inFlight + 2) * SHAPE.elementCount() * Float.BYTES;
        assertTrue(engine.allocatedBytes() <= most, () -> engine.allocatedBytes() + " bytes");
    }
}
