package dev.troupe.engine.cpu;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cpu.library.BfloatUnits;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.engine.structural.SizingEngine;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Products large enough for a packed right side, which would take too long in the conformance tests. */
@Tag("parity")
class PackedProductsTest {
    /** One whole panel of rows and a rest; no size is a multiple of a block. */
    private static final int M = 300;
    private static final int K = 517;
    private static final int N = 901;
    private static final int SAMPLES = 300;

    private final Engine engine = engine(DataType.FLOAT32, 1);
    private final Random random = new Random(7);

    @AfterEach
    void close() {
        engine.close();
    }

    @ParameterizedTest
    @CsvSource({"false, false, false", "false, true, false", "true, false, false", "true, true, false",
            "false, false, true", "true, false, true"})
    void shouldMultiplyLikeALoopInFloat64(boolean transposeLeft, boolean transposeRight, boolean accumulate) {
        float[] a = numbers(M * K);
        float[] b = numbers(K * N);
        float[] c = numbers(M * N);
        Tensor product = tensor(engine, c, M, N);
        engine.matmul(tensor(engine, a, transposeLeft ? K : M, transposeLeft ? M : K), transposeLeft,
                tensor(engine, b, transposeRight ? N : K, transposeRight ? K : N), transposeRight, product,
                accumulate);
        float[] found = read(engine, product);
        for (int sample = 0; sample < SAMPLES; sample++) {
            int row = sample < 2 ? sample * (M - 1) : random.nextInt(M);
            int column = sample < 2 ? sample * (N - 1) : random.nextInt(N);
            double expected = accumulate ? c[row * N + column] : 0;
            double magnitudes = Math.abs(expected);
            for (int i = 0; i < K; i++) {
                double term = (double) a[transposeLeft ? i * M + row : row * K + i]
                        * b[transposeRight ? column * K + i : i * N + column];
                expected += term;
                magnitudes += Math.abs(term);
            }
            assertEquals(expected, found[row * N + column], 0x1p-24 * 4 * Math.sqrt(K) * magnitudes,
                    "row " + row + ", column " + column);
        }
    }

    @Test
    void shouldGiveTheSameBytesOnAnyNumberOfThreads() {
        float[] a = numbers(M * K);
        float[] b = numbers(K * N);
        float[] alone = productOn(engine, a, b);
        try (Engine pool = engine(DataType.FLOAT32, 3)) {
            assertArrayEquals(alone, productOn(pool, a, b));
        }
    }

    /** Products of bfloat16 with a transposed left side; sizes are drawn, with several panels and without. */
    @ParameterizedTest
    @CsvSource({"40, 37, 70, false, false", "300, 517, 901, false, true", "512, 160, 1536, false, false",
            "700, 130, 530, true, true", "257, 96, 300, true, false"})
    void shouldComputeGradientsOfBfloat16LikeALoopInFloat64OnAnyNumberOfThreads(int m, int k, int n,
            boolean transposeRight, boolean accumulate) {
        float[] c = numbers(m * n);
        float[] a = new float[m * k];
        float[] b = new float[k * n];
        float[] found = null;
        for (int threads = 1; threads <= 3; threads += 2) {
            try (Engine mixed = engine(DataType.BFLOAT16, threads)) {
                Tensor left = rounded(mixed, threads == 1 ? numbers(m * k) : a, k, m);
                Tensor right = rounded(mixed, threads == 1 ? numbers(k * n) : b, transposeRight ? n : k,
                        transposeRight ? k : n);
                a = widened(mixed, left);
                b = widened(mixed, right);
                Tensor product = tensor(mixed, c, m, n);
                mixed.matmul(left, true, right, transposeRight, product, accumulate);
                if (threads == 1) {
                    found = read(mixed, product);
                } else {
                    assertArrayEquals(found, read(mixed, product));
                }
            }
        }
        for (int row = 0; row < m; row += 7) {
            for (int column = row % 5; column < n; column += 11) {
                double expected = accumulate ? c[row * n + column] : 0;
                double magnitudes = Math.abs(expected);
                for (int i = 0; i < k; i++) {
                    double term = (double) a[i * m + row] * b[transposeRight ? column * k + i : i * n + column];
                    expected += term;
                    magnitudes += Math.abs(term);
                }
                assertEquals(expected, found[row * n + column], 0x1p-24 * 4 * Math.sqrt(k) * magnitudes,
                        "row " + row + ", column " + column);
            }
        }
    }

    private static float[] widened(Engine on, Tensor numbers) {
        Tensor wide = on.allocate(DataType.FLOAT32, numbers.shape());
        on.cast(numbers, wide);
        return read(on, wide);
    }

    @Test
    void shouldPackAParameterAgainAfterAChange() {
        Tensor x = tensor(engine, numbers(M * K), M, K);
        Tensor buffer = tensor(engine, numbers(K * N + 64), K * N + 64);
        Tensor weights = engine.range(buffer, 64, Shape.of(K, N));
        Tensor other = tensor(engine, numbers(K * N), K, N);
        Tensor zeros = engine.allocate(DataType.FLOAT32, Shape.of(K * N + 64));
        Tensor y = engine.allocate(DataType.FLOAT32, Shape.of(M, N));
        BiConsumer<String, Runnable> check = (change, call) -> {
            call.run();
            engine.matmul(x, false, weights, false, y, false);
            float[] found = read(engine, y);
            // A tensor that is no range is packed in every call.
            Tensor same = tensor(engine, read(engine, weights), K, N);
            engine.matmul(x, false, same, false, y, false);
            same.close();
            assertArrayEquals(read(engine, y), found, "after " + change);
        };
        check.accept("nothing", () -> {
        });
        check.accept("a copy from the host",
                () -> engine.copyFromHost(MemorySegment.ofArray(numbers(K)), weights, 4L * K));
        check.accept("an update of the buffer", () -> {
            Tensor gradients = tensor(engine, numbers(K * N + 64), K * N + 64);
            engine.adamW(buffer, gradients, zeros, zerosLike(zeros), new AdamW(0.1, 0.9, 0.99, 1e-8, 0.1, 1, 1));
        });
        check.accept("a copy", () -> engine.copy(other, weights));
        check.accept("a sum", () -> engine.add(other, weights, weights));
        check.accept("a product", () -> engine.matmul(tensor(engine, numbers(K * 3), K, 3), false,
                tensor(engine, numbers(N * 3), 3, N), false, weights, true));
        check.accept("a fill", () -> engine.fill(buffer, 0.5));
    }

    @Test
    void shouldPackRoundedWeightsAgainAfterANewRounding() {
        try (Engine mixed = engine(DataType.BFLOAT16, 2)) {
            Tensor x = rounded(mixed, numbers(M * K), M, K);
            Tensor y = mixed.allocate(DataType.FLOAT32, Shape.of(M, N));
            Tensor buffer = mixed.allocate(DataType.BFLOAT16, Shape.of(K * N));
            Tensor weights = mixed.range(buffer, 0, Shape.of(K, N));
            for (int update = 0; update < 2; update++) {
                float[] updated = numbers(K * N);
                mixed.cast(tensor(mixed, updated, K * N), buffer);
                mixed.matmul(x, false, weights, false, y, false);
                long allocated = mixed.allocatedBytes();
                float[] found = read(mixed, y);
                // A tensor that is no range is packed in every call.
                mixed.matmul(x, false, rounded(mixed, updated, K, N), false, y, false);
                assertArrayEquals(read(mixed, y), found, "after update " + update);
                mixed.matmul(x, false, weights, false, y, false);
                assertEquals(allocated + 6L * K * N, mixed.allocatedBytes());
            }
        }
    }

    @Test
    void shouldCountPackedCopiesAsMemoryUntilTheBufferIsClosed() {
        Tensor x = tensor(engine, numbers(M * K), M, K);
        Tensor y = engine.allocate(DataType.FLOAT32, Shape.of(M, N));
        long before = engine.allocatedBytes();
        Tensor buffer = tensor(engine, numbers(K * N), K * N);
        Tensor weights = engine.range(buffer, 0, Shape.of(K, N));
        engine.matmul(x, false, weights, false, y, false);
        long packed = engine.allocatedBytes();
        engine.matmul(x, false, weights, false, y, false);
        assertEquals(packed, engine.allocatedBytes());
        assertEquals(engine.packedCopyBytes(weights.shape(), M), packed - before - buffer.byteCount(),
                0.1 * buffer.byteCount());
        buffer.close();
        assertEquals(before, engine.allocatedBytes());
    }

    @Test
    void shouldAnnounceTheMemoryOfWideningAndPacking() {
        long packed = 4L * K * N;
        assertEquals(0, engine.productScratchBytes(M, K, N, true, DataType.FLOAT32),
                "a parameter keeps its copy itself");
        assertEquals(packed, engine.productScratchBytes(M, K, N, false, DataType.FLOAT32));
        assertEquals(0, engine.productScratchBytes(3, K, N, false, DataType.FLOAT32), "not packed");
        try (Engine mixed = engine(DataType.BFLOAT16, 2)) {
            long panel = BfloatUnits.arePresent() ? 0 : 2 * 4L * 256 * K;
            assertEquals(panel, mixed.productScratchBytes(M, K, N, true, DataType.FLOAT32));
            assertEquals(panel + (panel == 0 ? 0 : 2 * 4L * 256 * N),
                    mixed.productScratchBytes(M, K, N, true, DataType.BFLOAT16));
            assertEquals(panel == 0 ? packed / 2 : packed + panel,
                    mixed.productScratchBytes(M, K, N, false, DataType.FLOAT32));
            // A left side that may be transposed is copied for units.
            if (panel == 0) {
                assertEquals(2L * M * K, mixed.productScratchBytes(M, K, 40, false, DataType.FLOAT32));
            }
            Engine sizes = SizingEngine.like(mixed);
            Tensor x = sizes.allocate(DataType.BFLOAT16, Shape.of(M, K));
            Tensor weights = sizes.range(sizes.allocate(DataType.BFLOAT16, Shape.of(K * N)), 0, Shape.of(K, N));
            Tensor y = sizes.allocate(DataType.BFLOAT16, Shape.of(M, N));
            long tensors = sizes.allocatedBytes();
            for (int times = 0; times < 2; times++) {
                sizes.matmul(x, false, weights, false, y, false);
                assertEquals(tensors + mixed.packedCopyBytes(weights.shape(), M)
                        + mixed.productScratchBytes(M, K, N, true, DataType.BFLOAT16), sizes.allocatedBytes());
            }
        }
    }

    private static Engine engine(DataType computeType, int threads) {
        return new CpuEngineProvider().open(new EngineSettings(DataType.FLOAT32, computeType, threads));
    }

    private static Tensor rounded(Engine on, float[] numbers, int... sizes) {
        Tensor rounded = on.allocate(DataType.BFLOAT16, Shape.of(sizes));
        on.cast(tensor(on, numbers, sizes), rounded);
        return rounded;
    }

    private Tensor zerosLike(Tensor tensor) {
        return engine.allocate(tensor.dataType(), tensor.shape());
    }

    private static float[] productOn(Engine on, float[] a, float[] b) {
        Tensor product = on.allocate(DataType.FLOAT32, Shape.of(M, N));
        on.matmul(tensor(on, a, M, K), false, tensor(on, b, K, N), false, product, false);
        return read(on, product);
    }

    private float[] numbers(int count) {
        float[] numbers = new float[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = (float) random.nextGaussian();
        }
        return numbers;
    }

    private static Tensor tensor(Engine on, float[] numbers, int... sizes) {
        Tensor tensor = on.allocate(DataType.FLOAT32, Shape.of(sizes));
        on.copyFromHost(MemorySegment.ofArray(numbers), tensor, 0);
        return tensor;
    }

    private static float[] read(Engine on, Tensor tensor) {
        float[] numbers = new float[(int) tensor.shape().elementCount()];
        on.copyToHost(tensor, 0, MemorySegment.ofArray(numbers));
        return numbers;
    }
}
