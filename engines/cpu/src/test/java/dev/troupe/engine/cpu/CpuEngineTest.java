package dev.troupe.engine.cpu;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.engine.cpu.library.BfloatUnits;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.reference.ReferenceEngine;
import java.lang.foreign.MemorySegment;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests of the cpu engine beyond conformance: shapes, threads, memory, concurrent engines, refusals. */
@Tag("parity")
@Dealt(4)
class CpuEngineTest {
    private static final EveryKernel.Sizes SMALL = new EveryKernel.Sizes(2, 70, 3, 24, 40, 37);
    /** Large enough that products are cut into panels and vectors of sums into blocks, and keys into two tiles. */
    private static final EveryKernel.Sizes LARGE = new EveryKernel.Sizes(1, 600, 3, 264, 530, 777);

    private final CpuEngineProvider provider = new CpuEngineProvider();

    @Test
    void shouldBeFoundAndDescribed() {
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

    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "BFLOAT16"})
    void shouldAgreeWithReferenceOnRandomShapes(DataType computeType) {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 12; round++) {
            EveryKernel.Sizes sizes = EveryKernel.Sizes.random(random);
            try (Engine reference = reference(computeType); Engine cpu = open(computeType, 1 + round % 3)) {
                agree(computeType, ran(reference, sizes, seed + round), ran(cpu, sizes, seed + round),
                        sizes + " from seed " + seed + ", round " + round);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "BFLOAT16"})
    void shouldAgreeWithReferenceIfWorkIsCut(DataType computeType) {
        try (Engine reference = reference(computeType); Engine cpu = open(computeType, 2)) {
            agree(computeType, ran(reference, LARGE, 1), ran(cpu, LARGE, 1), LARGE.toString());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "BFLOAT16"})
    void shouldGiveTheSameBytesForAnyNumberOfThreads(DataType computeType) {
        for (EveryKernel.Sizes sizes : new EveryKernel.Sizes[]{SMALL, LARGE}) {
            Map<String, float[]> expected = trained(computeType, 1, sizes, 1, 3);
            for (int threads : new int[]{2, 3, 7}) {
                same(expected, trained(computeType, threads, sizes, 1, 3), threads + " threads, " + sizes);
            }
        }
    }

    @Test
    void shouldGiveTheSameBytesWithAnotherEngineAsAlone() throws Exception {
        Map<String, float[]> first = trained(DataType.FLOAT32, 1, LARGE, 1, 3);
        Map<String, float[]> second = trained(DataType.BFLOAT16, 2, SMALL, 2, 60);
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            for (int round = 0; round < 3; round++) {
                var firstAgain = CompletableFuture.supplyAsync(() -> trained(DataType.FLOAT32, 1, LARGE, 1, 3),
                        threads);
                var secondAgain = CompletableFuture.supplyAsync(() -> trained(DataType.BFLOAT16, 2, SMALL, 2, 60),
                        threads);
                same(first, firstAgain.get(120, TimeUnit.SECONDS), "the first, round " + round);
                same(second, secondAgain.get(120, TimeUnit.SECONDS), "the second, round " + round);
            }
        }
    }

    @Test
    void shouldWarnIfBfloat16IsNotFast() {
        EngineSettings mixed = new EngineSettings(DataType.FLOAT32, DataType.BFLOAT16, 1);
        assertEquals(Optional.empty(), provider.obstacle(mixed));
        assertEquals(BfloatUnits.arePresent(), provider.caution(mixed).isEmpty());
        assertEquals(Optional.empty(), provider.caution(new EngineSettings(DataType.FLOAT32, 1)));
    }

    @Test
    void shouldRoundToTheNearestNumberAndToEven() {
        float[] floats = {1, -0.0f, 1 + 0x1p-8f, 1 + 0x3p-8f, 1 + 0x1.02p-8f, Float.MAX_VALUE, 0x1p-133f, 0x1p-134f,
                Float.NaN, Float.intBitsToFloat(0xffffffff), Float.NEGATIVE_INFINITY, -0x1.fffffep-127f};
        float[] rounded = {1, -0.0f, 1, 1 + 0x1p-6f, 1 + 0x1p-7f, Float.POSITIVE_INFINITY, 0x1p-133f, 0, Float.NaN,
                Float.NaN, Float.NEGATIVE_INFINITY, -0x1p-126f};
        // Repeated, so that each of them is in a vector and in the rest after the last.
        int count = 12 * 3 + 7;
        for (Engine engine : new Engine[]{reference(DataType.BFLOAT16), open(DataType.BFLOAT16, 1)}) {
            try (engine) {
                Tensor wide = engine.allocate(DataType.FLOAT32, Shape.of(count));
                Tensor narrow = engine.allocate(DataType.BFLOAT16, Shape.of(count));
                float[] elements = new float[count];
                for (int i = 0; i < count; i++) {
                    elements[i] = floats[i % floats.length];
                }
                engine.copyFromHost(MemorySegment.ofArray(elements), wide, 0);
                engine.cast(wide, narrow);
                engine.cast(narrow, wide);
                engine.copyToHost(wide, 0, MemorySegment.ofArray(elements));
                for (int i = 0; i < count; i++) {
                    assertEquals(rounded[i % rounded.length], elements[i], engine.kind() + " " + i);
                }
                assertThrows(IllegalArgumentException.class,
                        () -> engine.cast(wide, engine.allocate(DataType.BFLOAT16, Shape.of(count, 1))));
            }
        }
    }

    private Engine open(int threads) {
        return open(DataType.FLOAT32, threads);
    }

    private Engine open(DataType computeType, int threads) {
        return provider.open(new EngineSettings(DataType.FLOAT32, computeType, threads));
    }

    private static Engine reference(DataType computeType) {
        return new ReferenceEngine(new EngineSettings(DataType.FLOAT32, computeType, 1));
    }

    private Map<String, float[]> trained(DataType computeType, int threads, EveryKernel.Sizes sizes, long seed,
            int steps) {
        try (Engine engine = open(computeType, threads); EveryKernel kernels = new EveryKernel(engine, sizes, seed)) {
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

    /**
     * Relative to a tensor's largest element. Gradients of queries and keys are differences of numbers of the size of
     * the values' gradients, and are nothing but rounding if a text has one token. A loss is the difference of a
     * sum's logarithm and a logit, and is zero for one word. In bfloat16, an element on the
     * edge between two numbers may be rounded to the other one; what is computed from it then is off by some units of
     * its rounding, of 2^-8.
     */
    private static void agree(DataType computeType, Map<String, float[]> expected, Map<String, float[]> found,
            String where) {
        double tolerance = computeType == DataType.BFLOAT16 ? 0x1p-6 : 2e-5;
        expected.forEach((name, elements) -> {
            double largest = largest(elements);
            if (name.equals("dQueries") || name.equals("dKeys")) {
                largest = Math.max(largest, largest(expected.get("dValues")));
            } else if (name.equals("rowLoss") || name.equals("bothLosses")) {
                largest = Math.max(largest, largest(expected.get("logSums")));
            }
            double allowed = tolerance * largest;
            float[] others = found.get(name);
            for (int i = 0; i < elements.length; i++) {
                int at = i;
                assertEquals(elements[i], others[i], allowed, () -> name + "[" + at + "] of " + where);
            }
        });
    }

    private static double largest(float[] elements) {
        double largest = 1e-30;
        for (float element : elements) {
            largest = Math.max(largest, Math.abs(element));
        }
        return largest;
    }

    private static void same(Map<String, float[]> expected, Map<String, float[]> found, String where) {
        expected.forEach((name, elements) -> assertArrayEquals(elements, found.get(name), name + ", " + where));
    }
}
