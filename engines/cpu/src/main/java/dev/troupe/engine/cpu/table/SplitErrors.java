package dev.troupe.engine.cpu.table;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cpu.library.Tiles;
import dev.troupe.engine.provider.EngineSettings;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.Function;

/**
 * The error and the speed of products of float32, of whole and of split floats, at one size: a [256 x 512] and b
 * [512 x 512] of normal numbers. The error of an element is its distance from the sum in float64, divided by the sum of
 * magnitudes.
 */
final class SplitErrors {
    private static final int M = 256;
    private static final int K = 512;
    private static final int N = 512;
    private static final int SAMPLES = 2000;
    private static final int ROUNDS = 9;
    private static final String[] WORDS = {"exact", "bf16x3", "bf16x6"};
    private static final int[] PARTS = {0, 2, 3};

    private SplitErrors() {
    }

    /** Returns one line for a person. */
    static List<String> lines(Function<EngineSettings, Engine> engines) {
        if (Tiles.obstacle().isPresent()) {
            return List.of("float32-products: exact, since " + Tiles.obstacle().get());
        }
        StringBuilder line = new StringBuilder("float32-products, error by float64:");
        for (int i = 0; i < WORDS.length; i++) {
            EngineSettings settings = new EngineSettings(DataType.FLOAT32, 1).withFloatParts(PARTS[i]);
            try (Engine engine = engines.apply(settings)) {
                line.append(i == 0 ? " " : ", ").append(WORDS[i]).append(' ').append(trial(engine));
            }
        }
        return List.of(line.toString());
    }

    private static String trial(Engine engine) {
        Random random = new Random(1);
        float[] a = numbers(random, M * K);
        float[] b = numbers(random, K * N);
        Tensor left = tensor(engine, a, M, K);
        Tensor right = engine.range(tensor(engine, b, K, N), 0, Shape.of(K, N));
        Tensor product = engine.allocate(DataType.FLOAT32, Shape.of(M, N));
        long shortest = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            long start = System.nanoTime();
            engine.matmul(left, false, right, false, product, false);
            shortest = Math.min(shortest, System.nanoTime() - start);
        }
        float[] found = new float[M * N];
        engine.copyToHost(product, 0, MemorySegment.ofArray(found));
        double largest = 0;
        double squares = 0;
        for (int sample = 0; sample < SAMPLES; sample++) {
            double error = error(a, b, found, random.nextInt(M), random.nextInt(N));
            largest = Math.max(largest, error);
            squares += error * error;
        }
        return String.format(Locale.ROOT, "%.1e (at most %.1e, %.0f GFLOP/s)", Math.sqrt(squares / SAMPLES), largest,
                2.0 * M * K * N / shortest);
    }

    private static double error(float[] a, float[] b, float[] product, int row, int column) {
        double sum = 0;
        double magnitudes = 0;
        for (int i = 0; i < K; i++) {
            double term = (double) a[row * K + i] * b[i * N + column];
            sum += term;
            magnitudes += Math.abs(term);
        }
        return Math.abs(product[row * N + column] - sum) / magnitudes;
    }

    private static float[] numbers(Random random, int count) {
        float[] numbers = new float[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = (float) random.nextGaussian();
        }
        return numbers;
    }

    private static Tensor tensor(Engine engine, float[] numbers, int rows, int columns) {
        Tensor tensor = engine.allocate(DataType.FLOAT32, Shape.of(rows, columns));
        engine.copyFromHost(MemorySegment.ofArray(numbers), tensor, 0);
        return tensor;
    }
}
