package dev.troupe.engine.late;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Memory;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngineProvider;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Defects of callers that the late engine detects. */
@Tag("plan")
class LateEngineTest {
    /** The seed of an engine that does nothing before somebody waits. */
    private static final long LATEST = latest();

    private Engine engine;
    private Tensor tensor;

    private static Engine late(long seed) {
        return LateEngine.over(new ReferenceEngineProvider().create(new EngineSettings(DataType.FLOAT32, 1)), seed);
    }

    private static long latest() {
        for (long seed = 0;; seed++) {
            try (Engine drawn = late(seed)) {
                Tensor some = drawn.allocate(DataType.FLOAT32, Shape.of(1));
                for (int call = 0; call < 1000; call++) {
                    drawn.fill(some, call);
                }
                if (drawn.fence() != Fence.REACHED && !drawn.fence().isReached()) {
                    return seed;
                }
            }
        }
    }

    @BeforeEach
    void open() {
        engine = late(LATEST);
        tensor = engine.allocate(DataType.FLOAT32, Shape.of(3));
        engine.fill(tensor, 2);
    }

    @AfterEach
    void close() {
        engine.close();
    }

    private String refusal(Runnable call) {
        return assertThrows(IllegalStateException.class, call::run).getMessage();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldCopyDuringLaterWork(long seed) {
        try (Engine drawn = late(seed)) {
            Tensor first = drawn.allocate(DataType.FLOAT32, Shape.of(3));
            Tensor second = drawn.allocate(DataType.FLOAT32, Shape.of(3));
            drawn.fill(first, 2);
            float[] found = new float[3];
            Fence copied = drawn.toHost(first, 0, MemorySegment.ofArray(found), drawn.fence());
            drawn.fill(second, 7);
            for (int look = 0; look < 100 && !copied.isReached(); look++) {
                drawn.scale(second, 1);
            }
            copied.await();
            assertArrayEquals(new float[]{2, 2, 2}, found);
            drawn.fromHost(MemorySegment.ofArray(new float[]{5}), first, 4, Fence.REACHED).await();
            drawn.copyToHost(first, 0, MemorySegment.ofArray(found));
            assertArrayEquals(new float[]{2, 5, 2}, found);
        }
    }

    @Test
    void shouldCopySharedMemoryInTheOrderOfTheCalls() {
        int shares = 0;
        for (long seed = 0; seed < 20; seed++) {
            try (Engine drawn = late(seed)) {
                Optional<Memory.Shared> shared = drawn.share(12);
                if (shared.isEmpty()) {
                    continue;
                }
                shares++;
                Tensor one = drawn.allocate(DataType.FLOAT32, Shape.of(3));
                Tensor other = drawn.allocate(DataType.FLOAT32, Shape.of(3));
                Tensor target = drawn.allocate(DataType.FLOAT32, Shape.of(3));
                drawn.fill(one, 2);
                drawn.fill(other, 3);
                drawn.fence().await();
                drawn.toShared(one, 0, 12, shared.get(), 0).orElseThrow();
                drawn.fromShared(shared.get(), 0, target, 0, 12).orElseThrow();
                drawn.toShared(other, 0, 12, shared.get(), 0).orElseThrow();
                Fence last = drawn.fromShared(shared.get(), 4, target, 4, 8).orElseThrow();
                for (int look = 0; !last.isReached(); look++) {
                    assertTrue(look < 1000, "the fence is not reached");
                }
                float[] found = new float[3];
                drawn.copyToHost(target, 0, MemorySegment.ofArray(found));
                assertArrayEquals(new float[]{2, 3, 3}, found, "seed " + seed);
                shared.get().close();
            }
        }
        assertTrue(shares > 5, shares + " of 20 seeds share memory");
    }

    @Test
    void shouldReachAFenceThatIsPolledOften() {
        Fence fence = engine.fence();
        assertFalse(fence == Fence.REACHED);
        int looks = 0;
        while (!fence.isReached()) {
            assertTrue(looks++ < 1000, "the fence is not reached");
        }
    }

    @Test
    void shouldRefuseACopyBeforeItsTensorIsMade() {
        assertEquals(
                "toHost: FLOAT32 [3] is not free: allocate was asked for before and may not have run: copy at a fence"
                        + " after it",
                refusal(() -> engine.toHost(tensor, 0, MemorySegment.ofArray(new float[3]), Fence.REACHED)));
    }

    @Test
    void shouldRefuseACopyIntoATensorThatIsStillRead() {
        Tensor target = engine.allocate(DataType.FLOAT32, Shape.of(3));
        engine.fence().await();
        engine.copy(tensor, target);
        assertEquals(
                "fromHost: FLOAT32 [3] is not free: copy was asked for before and may not have run: copy at a fence"
                        + " after it",
                refusal(() -> engine.fromHost(MemorySegment.ofArray(new float[3]), tensor, 0, Fence.REACHED)));
    }

    @Test
    void shouldDetectATensorThatIsWrittenDuringACopy() {
        Fence made = engine.fence();
        made.await();
        Fence copied = engine.toHost(tensor, 0, MemorySegment.ofArray(new float[3]), made);
        engine.fill(tensor, 3);
        engine.fence().await();
        assertEquals("a call that ran late had failed: toHost: FLOAT32 [3] was written while it was copied",
                refusal(copied::await));
    }

    @Test
    void shouldRefuseAKernelOnATensorThatACopyWrites() {
        engine.fromHost(MemorySegment.ofArray(new float[3]), tensor, 0, engine.fence());
        assertEquals("scale: FLOAT32 [3] is not free: fromHost in progress still uses it",
                refusal(() -> engine.scale(tensor, 2)));
    }

    @Test
    void shouldRefuseToCloseATensorDuringACopy() {
        engine.toHost(tensor, 0, MemorySegment.ofArray(new float[3]), engine.fence());
        assertEquals("close: FLOAT32 [3] is not free: toHost in progress still uses it",
                refusal(tensor::close));
    }

    @Test
    void shouldRefuseAClosedTensor() {
        tensor.close();
        assertEquals("fill: FLOAT32 [3] is used after it was closed", refusal(() -> engine.fill(tensor, 1)));
    }

    @Test
    void shouldReportAKernelThatFailedLate() {
        Tensor other = engine.allocate(DataType.FLOAT32, Shape.of(4));
        engine.add(tensor, tensor, other);
        engine.fill(tensor, 1);
        assertTrue(refusal(engine.fence()::await).startsWith("a call that ran late had failed: "));
        assertTrue(refusal(() -> engine.fill(tensor, 1)).startsWith("a call that ran late had failed: "));
        tensor.close();
    }
}
