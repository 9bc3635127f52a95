package dev.troupe.engine.cpu;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.provider.EngineSettings;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Rows of an engine with exact rows, compared to the bit with the same rows among others: the sizes, the place of a row and
 * its neighbours are drawn.
 */
@Tag("parity")
class RowBitsTest {
    private static final int CASES = 12;

    private enum Type {
        FLOAT32(DataType.FLOAT32), BFLOAT16(DataType.BFLOAT16);

        private final DataType compute;

        Type(DataType compute) {
            this.compute = compute;
        }

        private EngineSettings settings() {
            return new EngineSettings(DataType.FLOAT32, compute, 2).withExactRows(true);
        }
    }

    private final Random random = new Random();
    private final long seed = random.nextLong();
    private Engine engine;

    private Tensor numbers(int rows, int columns) {
        float[] floats = new float[rows * columns];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = (float) random.nextGaussian();
        }
        Tensor wide = engine.allocate(DataType.FLOAT32, Shape.of(rows, columns));
        engine.copyFromHost(MemorySegment.ofArray(floats), wide, 0);
        return ofComputeType(wide);
    }

    private Tensor ofComputeType(Tensor wide) {
        if (engine.computeType() == DataType.FLOAT32) {
            return wide;
        }
        Tensor tensor = result(wide.shape().size(0), wide.shape().size(1));
        engine.cast(wide, tensor);
        wide.close();
        return tensor;
    }

    private Tensor rows(Tensor matrix, int first, int count) {
        int columns = matrix.shape().size(1);
        return engine.range(matrix, (long) first * columns, Shape.of(count, columns));
    }

    private byte[] bytes(Tensor tensor) {
        MemorySegment host = MemorySegment.ofArray(new byte[Math.toIntExact(tensor.byteCount())]);
        engine.copyToHost(tensor, 0, host);
        return host.toArray(ValueLayout.JAVA_BYTE);
    }

    private Tensor result(int rows, int columns) {
        return engine.allocate(engine.computeType(), Shape.of(rows, columns));
    }

    @ParameterizedTest
    @EnumSource
    void shouldMultiplyARowAsAmongOthers(Type type) {
        random.setSeed(seed);
        for (int drawn = 0; drawn < CASES; drawn++) {
            try (Engine opened = new CpuEngineProvider().open(type.settings())) {
                engine = opened;
                int m = 1 + random.nextInt(random.nextBoolean() ? 40 : 600);
                int k = 1 + random.nextInt(random.nextBoolean() ? 70 : 2000);
                int n = 1 + random.nextInt(random.nextBoolean() ? 70 : 700);
                boolean transposed = random.nextBoolean();
                Tensor a = numbers(m, k);
                Tensor buffer = numbers(transposed ? n : k, transposed ? k : n);
                Tensor weight = random.nextBoolean() ? rows(buffer, 0, buffer.shape().size(0)) : buffer;
                Tensor all = result(m, n);
                engine.matmul(a, false, weight, transposed, all, false);
                int count = 1 + random.nextInt(Math.min(m, 20));
                int first = random.nextInt(m - count + 1);
                Tensor some = result(count, n);
                engine.matmul(rows(a, first, count), false, weight, transposed, some, false);
                assertArrayEquals(bytes(rows(all, first, count)), bytes(some), "seed " + seed + ": rows " + first
                        + " to " + (first + count) + " of " + m + ", " + k + " x " + n + " transposed " + transposed);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldAttendInARowAsAmongOthers(Type type) {
        random.setSeed(seed);
        for (int drawn = 0; drawn < CASES; drawn++) {
            try (Engine opened = new CpuEngineProvider().open(type.settings())) {
                engine = opened;
                int t = 1 + random.nextInt(random.nextBoolean() ? 20 : 300);
                int shared = 1 + random.nextInt(3);
                int heads = shared * (1 + random.nextInt(4));
                int d = random.nextBoolean() ? 64 : 2 + 2 * random.nextInt(40);
                Tensor queries = numbers(t, heads * d);
                Tensor keys = numbers(t, shared * d);
                Tensor values = numbers(t, shared * d);
                Tensor state = engine.allocate(DataType.FLOAT32, engine.attentionStateShape(1, t, heads));
                Tensor all = result(t, heads * d);
                engine.groupedAttention(queries, keys, values, null, t, heads, shared, Dropout.NONE, state, all);
                // The cache has rows after the text that must not be read, with NaN.
                Tensor cachedKeys = poisoned(keys, t + 70);
                Tensor cachedValues = poisoned(values, t + 70);
                int length = 1 + random.nextInt(t);
                int count = 1 + random.nextInt(length);
                Tensor some = result(count, heads * d);
                engine.cachedAttention(rows(queries, length - count, count), cachedKeys, cachedValues, length, heads,
                        shared, some);
                assertArrayEquals(bytes(rows(all, length - count, count)), bytes(some), "seed " + seed + ": " + count
                        + " rows up to " + length + " of " + t + ", " + heads + " heads of " + d + ", shared "
                        + shared);
                shouldAttendInADocumentAsAlone(queries, keys, values, heads, shared, state);
            }
        }
    }

    /** The second document of a sequence, which begins at any place, has the bits of a sequence of its own. */
    private void shouldAttendInADocumentAsAlone(Tensor queries, Tensor keys, Tensor values, int heads, int shared,
            Tensor state) {
        int t = queries.shape().size(0);
        int begins = random.nextInt(t);
        int[] starts = new int[t];
        Arrays.fill(starts, begins, t, begins);
        Tensor places = engine.allocate(DataType.INT32, Shape.of(t));
        engine.copyFromHost(MemorySegment.ofArray(starts), places, 0);
        Tensor all = result(t, queries.shape().size(1));
        engine.groupedAttention(queries, keys, values, places, t, heads, shared, Dropout.NONE, state, all);
        int rest = t - begins;
        Tensor alone = result(rest, queries.shape().size(1));
        Tensor ownState = engine.allocate(DataType.FLOAT32, engine.attentionStateShape(1, rest, heads));
        engine.groupedAttention(rows(queries, begins, rest), rows(keys, begins, rest), rows(values, begins, rest), null,
                rest, heads, shared, Dropout.NONE, ownState, alone);
        assertArrayEquals(bytes(rows(all, begins, rest)), bytes(alone),
                "seed " + seed + ": a document from place " + begins + " of " + t);
    }

    private Tensor poisoned(Tensor rows, int places) {
        Tensor poison = engine.allocate(DataType.FLOAT32, Shape.of(places, rows.shape().size(1)));
        engine.fill(poison, Double.NaN);
        Tensor cache = ofComputeType(poison);
        engine.copy(rows, rows(cache, 0, rows.shape().size(0)));
        return cache;
    }

    @Test
    void shouldRefuseProductsOfPartsOfFloats() {
        assertEquals(Optional.of("engine.exact-rows = true has products of whole floats alone: set"
                + " engine.float32-products = exact, or engine.exact-rows = false"),
                new CpuEngineProvider().obstacle(Type.FLOAT32.settings().withFloatParts(3)));
    }
}
