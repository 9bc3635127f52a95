package dev.troupe.engine.cpu;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.EngineProvider;
import dev.troupe.engine.EngineSettings;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.reference.ReferenceEngine;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is the cpu engine's own beside the conformance of all engines: shapes, threads, memory, neighbours, refusals. */
@Tag("parity")
class CpuEngineTest {
    private static final EveryKernel.Sizes SMALL = new EveryKernel.Sizes(2, 70, 3, 24, 40, 37);
    /** Large enough that products are cut into panels and vectors of sums into blocks, and keys into two tiles. */
    private static final EveryKernel.Sizes LARGE = new EveryKernel.Sizes(1, 600, 3, 264, 530, 777);
    private static final long MEBIBYTE = 1 << 20;

    private final CpuEngineProvider provider = new CpuEngineProvider();

    @Test
    void shouldBeFoundAndSayWhatItIs() {
        EngineProvider found = ServiceLoader.load(EngineProvider.class).stream().map(ServiceLoader.Provider::get)
                .filter(candidate -> candidate.kind().equals("cpu")).findFirst().orElseThrow();
        assertInstanceOf(CpuEngineProvider.class, found);
        assertEquals(20, found.preference());
        assertTrue(found.description().startsWith("oneDNN 3.11"), found.description());
        assertEquals(Optional.empty(), found.obstacle(new EngineSettings(DataType.FLOAT32, 3)));
    }

    @Test
    void shouldRefuseFloat64InOneSentence() {
        EngineSettings settings = new EngineSettings(DataType.FLOAT64, 1);
        String sentence = provider.obstacle(settings).orElseThrow();
        assertTrue(sentence.startsWith("the cpu engine computes in FLOAT32, not in FLOAT64"), sentence);
        assertEquals(sentence, assertThrows(IllegalStateException.class, () -> provider.open(settings)).getMessage());
    }

    @Test
    void shouldAgreeWithReferenceOnRandomShapes() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 12; round++) {
            EveryKernel.Sizes sizes = EveryKernel.Sizes.random(random);
            try (Engine reference = new ReferenceEngine(DataType.FLOAT32); Engine cpu = open(1 + round % 3)) {
                agree(ran(reference, sizes, seed + round), ran(cpu, sizes, seed + round),
                        sizes + " from seed " + seed + ", round " + round);
            }
        }
    }

    @Test
    void shouldAgreeWithReferenceWhereWorkIsCut() {
        try (Engine reference = new ReferenceEngine(DataType.FLOAT32); Engine cpu = open(2)) {
            agree(ran(reference, LARGE, 1), ran(cpu, LARGE, 1), LARGE.toString());
        }
    }

    @Test
    void shouldGiveTheSameBytesForAnyNumberOfThreads() {
        for (EveryKernel.Sizes sizes : new EveryKernel.Sizes[]{SMALL, LARGE}) {
            Map<String, float[]> expected = trained(1, sizes, 1, 3);
            for (int threads : new int[]{2, 3, 7}) {
                same(expected, trained(threads, sizes, 1, 3), threads + " threads, " + sizes);
            }
        }
    }

    @Test
    void shouldGiveTheSameBytesBesideAnotherEngineAsAlone() throws Exception {
        Map<String, float[]> first = trained(1, LARGE, 1, 3);
        Map<String, float[]> second = trained(2, SMALL, 2, 60);
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            for (int round = 0; round < 3; round++) {
                var firstAgain = CompletableFuture.supplyAsync(() -> trained(1, LARGE, 1, 3), threads);
                var secondAgain = CompletableFuture.supplyAsync(() -> trained(2, SMALL, 2, 60), threads);
                same(first, firstAgain.get(120, TimeUnit.SECONDS), "the first, round " + round);
                same(second, secondAgain.get(120, TimeUnit.SECONDS), "the second, round " + round);
            }
        }
    }

    @Test
    void shouldHoldTheSameMemoryAndLeaveNoGarbageOverAThousandSteps() throws IOException {
        try (Engine engine = open(1); EveryKernel kernels = new EveryKernel(engine, SMALL, 1)) {
            steps(kernels, 1000);
            // Until the vector kernels are compiled each of their operations makes objects.
            long garbage = Long.MAX_VALUE;
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
            while (garbage > 8 * 1024 && System.nanoTime() < deadline) {
                garbage = garbageOf(kernels, 200);
            }
            assertTrue(garbage <= 8 * 1024, "a step leaves " + garbage + " bytes of garbage");
            long allocatedBytes = engine.allocatedBytes();
            long residentBytes = residentBytes();
            steps(kernels, 1000);
            assertEquals(allocatedBytes, engine.allocatedBytes());
            assertTrue(residentBytes() <= residentBytes + 24 * MEBIBYTE,
                    "resident bytes were " + residentBytes + " and are " + residentBytes());
        }
    }

    @Test
    void shouldRefuseATensorThatIsClosedOrAnothers() {
        try (Engine engine = open(1); Engine other = open(1)) {
            Tensor own = engine.allocate(DataType.FLOAT32, Shape.of(3));
            Tensor foreign = other.allocate(DataType.FLOAT32, Shape.of(3));
            assertThrows(IllegalArgumentException.class, () -> engine.add(own, own, foreign));
            own.close();
            assertThrows(IllegalStateException.class, () -> engine.fill(own, 1));
            assertThrows(IllegalStateException.class, () -> engine.copyToHost(own, 0, MemorySegment.ofArray(
                    new float[3])));
        }
    }

    @Test
    void shouldRefuseIdsThatAreNoRowOfTheTable() {
        try (Engine engine = open(1)) {
            Tensor ids = engine.allocate(DataType.INT32, Shape.of(2));
            Tensor table = engine.allocate(DataType.FLOAT32, Shape.of(5, 3));
            Tensor y = engine.allocate(DataType.FLOAT32, Shape.of(2, 3));
            for (int wrong : new int[]{5, -2}) {
                engine.copyFromHost(MemorySegment.ofArray(new int[]{0, wrong}), ids, 0);
                assertEquals("embedding: tokens[1] is " + wrong + ", but must be from 0 to 4, or -1 for elsewhere",
                        assertThrows(IllegalArgumentException.class,
                                () -> engine.embedding(ids, table, table, 2, y)).getMessage());
            }
        }
    }

    private Engine open(int threads) {
        return provider.open(new EngineSettings(DataType.FLOAT32, threads));
    }

    private Map<String, float[]> trained(int threads, EveryKernel.Sizes sizes, long seed, int steps) {
        try (Engine engine = open(threads); EveryKernel kernels = new EveryKernel(engine, sizes, seed)) {
            steps(kernels, steps);
            kernels.run();
            return kernels.floats();
        }
    }

    private static void steps(EveryKernel kernels, int count) {
        for (int i = 0; i < count; i++) {
            double sum = kernels.run();
            assertTrue(Double.isFinite(sum), "the sum of step " + i + " is " + sum);
            kernels.settle();
        }
    }

    private static Map<String, float[]> ran(Engine engine, EveryKernel.Sizes sizes, long seed) {
        try (EveryKernel kernels = new EveryKernel(engine, sizes, seed)) {
            kernels.run();
            return kernels.floats();
        }
    }

    private static void agree(Map<String, float[]> expected, Map<String, float[]> found, String where) {
        expected.forEach((name, elements) -> {
            double largest = 1e-30;
            for (float element : elements) {
                largest = Math.max(largest, Math.abs(element));
            }
            float[] others = found.get(name);
            for (int i = 0; i < elements.length; i++) {
                int at = i;
                assertEquals(elements[i], others[i], 2e-5 * largest, () -> name + "[" + at + "] of " + where);
            }
        });
    }

    private static void same(Map<String, float[]> expected, Map<String, float[]> found, String where) {
        expected.forEach((name, elements) -> assertArrayEquals(elements, found.get(name), name + ", " + where));
    }

    /** Bytes of objects that one step allocates on this thread. */
    private static long garbageOf(EveryKernel kernels, int count) {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        steps(kernels, count);
        return (threads.getCurrentThreadAllocatedBytes() - before) / count;
    }

    private static long residentBytes() throws IOException {
        return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]) * 4096;
    }
}
