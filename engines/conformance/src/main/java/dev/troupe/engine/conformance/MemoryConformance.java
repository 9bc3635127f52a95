package dev.troupe.engine.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Fence.Instants;
import dev.troupe.engine.Memory;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.digest.BitHash;
import dev.troupe.engine.digest.TensorDigest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of an engine's memory: allocating, closing, copies to and from the host, and sums that are read back. */
abstract class MemoryConformance {
    private static final int ELEMENTS = 97;

    private Engine engine;

    /** Opens the engine under test, with this number of threads for a kernel; the test closes it. */
    protected abstract Engine open(int threads);

    final Engine engine() {
        return engine;
    }

    @BeforeEach
    final void openEngine() {
        engine = open(1);
    }

    @AfterEach
    final void closeEngine() {
        engine.close();
    }

    @Test
    final void shouldAllocateZeros() {
        for (DataType dataType : new DataType[]{engine.parameterType(), DataType.INT32}) {
            // Twice, since memory may be reused.
            for (int round = 0; round < 2; round++) {
                try (Tensor tensor = engine.allocate(dataType, Shape.of(3, 5, 7))) {
                    assertEquals(dataType, tensor.dataType());
                    assertEquals(Shape.of(3, 5, 7), tensor.shape());
                    assertArrayEquals(new double[105], HostMemory.read(engine, tensor));
                    HostMemory.write(engine, tensor, ones(105));
                }
            }
        }
    }

    @Test
    final void shouldShowTheElementsInPlaceIfItShowsAny() {
        try (Tensor tensor = engine.allocate(engine.parameterType(), Shape.of(ELEMENTS));
                Tensor sum = engine.allocate(engine.parameterType(), Shape.of(ELEMENTS))) {
            HostMemory.write(engine, tensor, ones(ELEMENTS));
            engine.hostMemory(tensor).ifPresent(memory -> {
                assertArrayEquals(HostMemory.bytes(engine, tensor), memory.toArray(ValueLayout.JAVA_BYTE));
                double[] twos = Arrays.stream(ones(ELEMENTS)).map(one -> 2 * one).toArray();
                memory.copyFrom(MemorySegment.ofArray(HostMemory.encoded(tensor.dataType(), twos)));
                engine.add(tensor, tensor, sum);
                assertArrayEquals(Arrays.stream(twos).map(two -> 2 * two).toArray(), HostMemory.read(engine, sum));
            });
        }
    }

    @Test
    final void shouldCountBytesOfOpenTensors() {
        long before = engine.allocatedBytes();
        Tensor floats = engine.allocate(engine.parameterType(), Shape.of(17, 3));
        Tensor ints = engine.allocate(DataType.INT32, Shape.of(5));
        assertEquals(before + floats.byteCount() + ints.byteCount(), engine.allocatedBytes());
        floats.close();
        floats.close();
        assertEquals(before + ints.byteCount(), engine.allocatedBytes(), "a tensor that is closed twice counts once");
        ints.close();
        assertEquals(before, engine.allocatedBytes());
    }

    @Test
    final void shouldFreeEverythingWhenClosed() {
        Engine other = open(1);
        Tensor left = other.allocate(other.parameterType(), Shape.of(17));
        other.close();
        assertEquals(0, other.allocatedBytes());
        left.close();
        other.close();
        assertEquals(0, other.allocatedBytes(), "closing again, tensor or engine, has no effect");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    final void shouldCopyAnyRangeOfElements(boolean integers) {
        DataType dataType = integers ? DataType.INT32 : engine.parameterType();
        int width = dataType.elementBytes();
        byte[] expected = new byte[ELEMENTS * width];
        new Random(1).nextBytes(expected);
        if (!integers) {
            expected = HostMemory.encoded(dataType, new Random(1).doubles(ELEMENTS).map(x -> (float) x).toArray());
        }
        try (Tensor tensor = engine.allocate(dataType, Shape.of(ELEMENTS)); Arena arena = Arena.ofConfined()) {
            engine.copyFromHost(MemorySegment.ofArray(expected), tensor, 0);
            for (int first : new int[]{0, 1, 16, 33, ELEMENTS - 1}) {
                for (int count : new int[]{1, 3, ELEMENTS - first}) {
                    int from = first * width;
                    int to = Math.min(ELEMENTS, first + count) * width;
                    byte[] part = Arrays.copyOfRange(expected, from, to);

                    // One byte past an aligned address: a message's payload may begin anywhere.
                    MemorySegment odd = arena.allocate(part.length + 1L, 8).asSlice(1);
                    engine.copyToHost(tensor, from, odd);
                    assertArrayEquals(part, odd.toArray(ValueLayout.JAVA_BYTE));

                    byte[] turned = HostMemory.encoded(dataType, ones(part.length / width));
                    System.arraycopy(turned, 0, expected, from, turned.length);
                    engine.copyFromHost(odd.copyFrom(MemorySegment.ofArray(turned)), tensor, from);
                    assertArrayEquals(expected, HostMemory.bytes(engine, tensor),
                            String.format(Locale.ROOT, "elements outside %d..%d must stay", first, first + count));
                }
            }
        }
    }

    @Test
    final void shouldTakeFromAnotherEngineIfItCan() {
        int width = engine.parameterType().elementBytes();
        try (Engine other = open(1);
                Tensor source = other.allocate(engine.parameterType(), Shape.of(ELEMENTS));
                Tensor target = engine.allocate(engine.parameterType(), Shape.of(ELEMENTS))) {
            HostMemory.write(other, source, ones(ELEMENTS));
            other.fence().await();
            engine.fence().await();
            engine.takeFrom(source, target, 3L * width, 40L * width).ifPresent(taken -> {
                taken.await();
                double[] expected = new double[ELEMENTS];
                Arrays.fill(expected, 3, 43, 1);
                assertArrayEquals(expected, HostMemory.read(engine, target));
            });
            assertThrows(IllegalArgumentException.class,
                    () -> engine.takeFrom(source, target, 0, (ELEMENTS + 1L) * width));
            assertThrows(IllegalArgumentException.class, () -> engine.takeFrom(source, target, 1, width));
        }
    }

    /** The owner's side only, since only another process can open the memory. */
    @Test
    final void shouldCopyToAndFromSharedMemoryIfItHasAny() {
        int width = engine.parameterType().elementBytes();
        Optional<Memory.Shared> made = engine.share(100L * width);
        if (made.isEmpty()) {
            return;
        }
        try (Memory.Shared shared = made.get();
                Tensor source = engine.allocate(engine.parameterType(), Shape.of(ELEMENTS));
                Tensor target = engine.allocate(engine.parameterType(), Shape.of(ELEMENTS));
                Tensor ids = engine.allocate(DataType.INT32, Shape.of(ELEMENTS))) {
            assertEquals(100L * width, shared.byteCount());
            assertTrue(shared.handle().length <= Memory.Shared.MOST_HANDLE_BYTES);
            HostMemory.write(engine, source, ones(ELEMENTS));
            engine.fence().await();
            assertTrue(engine.toShared(source, 0, 40L * width, shared, 60L * width).isPresent());
            engine.fromShared(shared, 60L * width, target, 3L * width, 40L * width).orElseThrow().await();
            double[] expected = new double[ELEMENTS];
            Arrays.fill(expected, 3, 43, 1);
            assertArrayEquals(expected, HostMemory.read(engine, target), "in the order of the calls");
            assertTrue(engine.toShared(ids, 0, 4, shared, 0).isEmpty(), "ids come by copies of the host");
            assertTrue(engine.fromShared(shared, 0, ids, 0, 4).isEmpty(), "ids come by copies of the host");
            for (long[] range : new long[][]{{1, width, 0}, {0, 98L * width, 0}, {0, 2L * width, 99L * width},
                    {0, width, -width}, {0, width, Long.MAX_VALUE}}) {
                assertThrows(IllegalArgumentException.class,
                        () -> engine.toShared(source, range[0], range[1], shared, range[2]));
                assertThrows(IllegalArgumentException.class,
                        () -> engine.fromShared(shared, range[2], target, range[0], range[1]));
            }
        }
    }

    @Test
    final void shouldRefuseRangesThatDoNotFit() {
        try (Tensor tensor = engine.allocate(engine.parameterType(), Shape.of(4))) {
            HostMemory.write(engine, tensor, ones(4));
            byte[] before = HostMemory.bytes(engine, tensor);
            int width = engine.parameterType().elementBytes();
            long[][] offsetsAndLengths = {{-width, width}, {width, 4L * width}, {4L * width, width},
                    {1, width}, {0, width - 1}, {0, 5L * width}, {Long.MAX_VALUE / width * width, width}};
            for (long[] range : offsetsAndLengths) {
                byte[] host = new byte[(int) range[1]];
                String where = String.format(Locale.ROOT, "%d bytes from %d", range[1], range[0]);
                assertThrows(IllegalArgumentException.class,
                        () -> engine.copyFromHost(MemorySegment.ofArray(host), tensor, range[0]), where);
                assertThrows(IllegalArgumentException.class,
                        () -> engine.copyToHost(tensor, range[0], MemorySegment.ofArray(host)), where);
                assertArrayEquals(new byte[host.length], host, where);
            }
            assertArrayEquals(before, HostMemory.bytes(engine, tensor));
        }
    }

    @Test
    final void shouldCopyOnAnotherThread() {
        try (Tensor tensor = engine.allocate(engine.parameterType(), Shape.of(ELEMENTS));
                Tensor doubled = engine.allocate(engine.parameterType(), Shape.of(ELEMENTS))) {
            CompletableFuture.runAsync(() -> HostMemory.write(engine, tensor, ones(ELEMENTS))).join();
            engine.add(tensor, tensor, doubled);
            double[] found = CompletableFuture.supplyAsync(() -> HostMemory.read(engine, doubled)).join();
            assertArrayEquals(Arrays.stream(ones(ELEMENTS)).map(x -> 2 * x).toArray(), found);
        }
    }

    /** On another thread, as a transport does it, while this one continues. */
    @Test
    final void shouldReportTheInstantsOfItsWork() {
        Instants instants = engine.instants(3);
        for (int round = 0; round < 3; round++) {
            long before = System.nanoTime();
            instants.mark(2);
            try (Tensor tensor = engine.allocate(engine.parameterType(), Shape.of(ELEMENTS))) {
                engine.fill(tensor, 2);
                instants.mark(0);
                instants.await(0);
                assertTrue(before <= instants.nanos(2) && instants.nanos(2) <= instants.nanos(0)
                        && instants.nanos(0) <= System.nanoTime());
            }
            assertEquals(0, instants.nanos(1), "it was not marked");
        }
    }

    @Test
    final void shouldCopyAtFences() {
        try (Tensor tensor = engine.allocate(engine.parameterType(), Shape.of(ELEMENTS));
                Tensor doubled = engine.allocate(engine.parameterType(), Shape.of(ELEMENTS));
                Arena arena = Arena.ofShared()) {
            HostMemory.write(engine, tensor, ones(ELEMENTS));
            engine.add(tensor, tensor, doubled);
            Fence made = engine.fence();
            MemorySegment host = arena.allocate(doubled.byteCount(), 8);
            CompletableFuture<Fence> copied = CompletableFuture
                    .supplyAsync(() -> engine.toHost(doubled, 0, host, made));
            engine.scale(tensor, 3);
            copied.join().await();
            assertTrue(made.isReached() && copied.join().isReached());
            assertArrayEquals(HostMemory.bytes(engine, doubled), host.toArray(ValueLayout.JAVA_BYTE));

            long half = (long) ELEMENTS / 2 * engine.parameterType().elementBytes();
            Fence back = engine.fromHost(host.asSlice(half), tensor, half, engine.fence());
            back.await();
            double[] expected = new double[ELEMENTS];
            Arrays.setAll(expected, i -> i < ELEMENTS / 2 ? 3 : 2);
            assertArrayEquals(expected, HostMemory.read(engine, tensor));
            assertTrue(engine.computesLate() || engine.fence() == Fence.REACHED);
        }
    }

    @Test
    final void shouldCopyIntegersAndKeepTensorsApart() {
        try (Tensor source = engine.allocate(DataType.INT32, Shape.of(3));
                Tensor target = engine.allocate(DataType.INT32, Shape.of(3))) {
            HostMemory.write(engine, source, new double[]{Integer.MIN_VALUE, 16777217, Integer.MAX_VALUE});
            engine.copy(source, target);
            double[] copied = HostMemory.read(engine, target);
            assertArrayEquals(new double[]{Integer.MIN_VALUE, 16777217, Integer.MAX_VALUE}, copied);
            HostMemory.write(engine, source, ones(3));
            assertArrayEquals(copied, HostMemory.read(engine, target));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 17, 97, 4099})
    final void shouldSumInFloat64(int count) {
        double[] numbers = new Random(count).doubles(count, -1, 1).map(x -> (float) x).toArray();
        if (count > 2) {
            // A float32 sum would lose the small numbers next to the large one.
            numbers[0] = 1 << 24;
            numbers[count - 1] = -(1 << 24);
        }
        double expected = Arrays.stream(numbers).sum();
        double magnitudes = Arrays.stream(numbers).map(Math::abs).sum();
        try (Tensor tensor = engine.allocate(engine.parameterType(), Shape.of(count));
                Tensor sums = engine.allocate(DataType.FLOAT64, Shape.of(4))) {
            HostMemory.write(engine, tensor, numbers);
            engine.sum(tensor, sums, 1);
            engine.sum(tensor, sums, 2);
            double[] found = HostMemory.read(engine, sums);
            assertEquals(expected, found[1], 0x1p-53 * Tolerance.ofTerms(count) * magnitudes);
            assertArrayEquals(new double[]{0, found[1], found[1], 0}, found, "the same tensor has the same sum");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 17, 97, 4099})
    final void shouldSumSquares(int count) {
        double[] numbers = new Random(count).doubles(count, -1, 1).map(x -> (float) x).toArray();
        double expected = Arrays.stream(numbers).map(x -> x * x).sum();
        double unit = engine.parameterType() == DataType.FLOAT32 ? 0x1p-24 : 0x1p-53;
        try (Tensor tensor = engine.allocate(engine.parameterType(), Shape.of(count));
                Tensor sums = engine.allocate(DataType.FLOAT64, Shape.of(4))) {
            HostMemory.write(engine, tensor, numbers);
            engine.squaredSum(tensor, sums, 1);
            engine.squaredSum(tensor, sums, 2);
            double[] found = HostMemory.read(engine, sums);
            assertEquals(expected, found[1], unit * Tolerance.ofTerms(count) * expected);
            assertArrayEquals(new double[]{0, found[1], found[1], 0}, found, "the same tensor has the same sum");
        }
    }

    /** Some sizes have several chunks, with a partial last one; a range may begin at any element. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3, 97, 4100, 12_289})
    final void shouldDigestTheBitsOfAnyTensor(int count) {
        for (DataType type : new HashSet<>(
                List.of(engine.parameterType(), engine.computeType(), DataType.INT32))) {
            try (Tensor buffer = engine.allocate(type, Shape.of(count + 5));
                    Tensor digests = engine.allocate(DataType.INT32, Shape.of(3, 2))) {
                HostMemory.write(engine, buffer, new Random(count).ints(count + 5, -99, 99).asDoubleStream().toArray());
                for (int first : new int[]{0, 3, 5}) {
                    Tensor range = engine.range(buffer, first, Shape.of(count));
                    assertEquals(digest(range), madeDigest(range, digests), type + " from " + first);
                }
                if (type != DataType.INT32) {
                    assertTrue(BitHash.isFinite(madeDigest(buffer, digests)));
                    HostMemory.write(engine, engine.range(buffer, count, Shape.of(1)), new double[]{Double.NaN});
                    assertFalse(BitHash.isFinite(madeDigest(buffer, digests)), type + " with a NaN");
                }
            }
        }
    }

    private long madeDigest(Tensor tensor, Tensor digests) {
        engine.digest(tensor, digests, 1);
        MemorySegment made = MemorySegment.ofArray(HostMemory.bytes(engine, digests));
        assertEquals(0, TensorDigest.read(made, 0));
        assertEquals(0, TensorDigest.read(made, 2));
        return TensorDigest.read(made, 1);
    }

    private long digest(Tensor tensor) {
        BitHash hash = new BitHash();
        hash.begin(tensor.dataType());
        hash.add(MemorySegment.ofArray(HostMemory.bytes(engine, tensor)));
        return hash.digest();
    }

    @Test
    final void shouldNameItself() {
        assertTrue(engine.kind().matches("[a-z0-9-]+"), engine.kind());
        assertNotEquals(DataType.INT32, engine.parameterType());
    }

    private static double[] ones(int count) {
        double[] numbers = new double[count];
        Arrays.fill(numbers, 1);
        return numbers;
    }
}
