package dev.troupe.cli;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Locale;

/**
 * A trial of an engine's matrix product, checked against sums in float64 and timed.
 *
 * @param isRight whether the compared elements are right
 * @param flops floating point operations per second of processor time, in the best of several products
 */
record ProductTrial(EngineProvider provider, EngineSettings settings, boolean isRight, double flops) {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    // [M x K] by [K x N]: as large as the products of a model 256 to 512 wide.
    private static final int M = 256;
    private static final int K = 512;
    private static final int N = 1024;
    /** Numbers that every product type holds exactly: multiples of an eighth, below 2. */
    private static final int EIGHTHS = 15;
    private static final int STEP = 97;
    /** The processor time of the warm-up, in which the Java code of a product is compiled. */
    private static final long ENOUGH_NANOS = 400_000_000;
    private static final long MOST_NANOS = 3_000_000_000L;
    private static final int LEAST_PRODUCTS = 2;
    /** A product of bfloat16 is rounded once; sums of floats deviate far less. */
    private static final double TOLERANCE = 0x1p-8;

    /** Opens an engine, multiplies, and closes it. */
    static ProductTrial of(EngineProvider provider, EngineSettings settings) {
        try (Engine engine = provider.open(settings)) {
            Tensor left = tensor(engine, M, K);
            Tensor weights = tensor(engine, K, N);
            Tensor right = engine.range(weights, 0, Shape.of(K, N));
            Tensor product = engine.allocate(settings.computeType(), Shape.of(M, N));
            long best = Long.MAX_VALUE;
            long began = System.nanoTime();
            long used = 0;
            for (int i = 0; i < LEAST_PRODUCTS || used < ENOUGH_NANOS && System.nanoTime() - began < MOST_NANOS; i++) {
                long start = now(engine);
                engine.matmul(left, false, right, false, product, false);
                engine.fence().await();
                long taken = now(engine) - start;
                used += taken;
                best = Math.min(best, Math.max(1, taken));
            }
            return new ProductTrial(provider, settings, isRight(engine, product), 2.0 * M * K * N / best * 1e9);
        }
    }

    /**
     * Returns the processor time of this thread, which computes alone, so that other work does not count; wall time if a
     * device computes.
     */
    private static long now(Engine engine) {
        return engine.computesLate() ? System.nanoTime() : THREADS.getCurrentThreadCpuTime();
    }

    private static Tensor tensor(Engine engine, int rows, int columns) {
        float[] numbers = new float[rows * columns];
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                numbers[row * columns + column] = number(row, column);
            }
        }
        Tensor floats = engine.allocate(DataType.FLOAT32, Shape.of(rows, columns));
        engine.copyFromHost(MemorySegment.ofArray(numbers), floats, 0);
        Tensor products = engine.allocate(engine.computeType(), Shape.of(rows, columns));
        engine.cast(floats, products);
        floats.close();
        return products;
    }

    private static float number(int row, int column) {
        return ((row * 31 + column * 17) % (2 * EIGHTHS + 1) - EIGHTHS) / 8f;
    }

    private static boolean isRight(Engine engine, Tensor product) {
        Tensor floats = engine.allocate(DataType.FLOAT32, product.shape());
        engine.cast(product, floats);
        float[] found = new float[M * N];
        engine.copyToHost(floats, 0, MemorySegment.ofArray(found));
        for (int i = 0; i < found.length; i += STEP) {
            double expected = 0;
            double magnitudes = 0;
            for (int k = 0; k < K; k++) {
                double term = (double) number(i / N, k) * number(k, i % N);
                expected += term;
                magnitudes += Math.abs(term);
            }
            if (!(Math.abs(found[i] - expected) <= TOLERANCE * Math.abs(expected) + 1e-6 * magnitudes)) {
                return false;
            }
        }
        return true;
    }

    /** Returns the type of the products, as in {@code training.precision}. */
    String precision() {
        return settings.computeType().name().toLowerCase(Locale.ROOT);
    }

    /** Returns the result as a line. */
    String text() {
        return isRight
                ? String.format(Locale.ROOT, "multiplies right, %,.0f GFLOP/s on one thread", flops * 1e-9)
                : "multiplies WRONG: this engine cannot be used here";
    }
}
