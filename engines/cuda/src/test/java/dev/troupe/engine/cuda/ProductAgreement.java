package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Random;

/** The products of two engines compared, at sizes that the conformance tests lack. */
final class ProductAgreement {
    /** Units of 2^-24 for a term of about 1 in a sum: far below what TF32 would give. */
    private static final double ROOM = 8 * 0x1p-24;
    private static final double BFLOAT16_ROOM = 0x1.02p-8;

    private final Engine own;
    private final Engine other;
    private final int m;
    private final int k;
    private final int n;

    /** Products [m x n] of sums of k terms. */
    ProductAgreement(Engine own, Engine other, int m, int k, int n) {
        this.own = own;
        this.other = other;
        this.m = m;
        this.k = k;
        this.n = n;
    }

    /** In all forms, to the product type and to floats, added or not, with a bias; the other has the same bits again. */
    void hold() {
        for (int form = 0; form < 4; form++) {
            boolean transposeLeft = (form & 2) != 0;
            boolean transposeRight = (form & 1) != 0;
            for (DataType type : DataType.values()) {
                if (type == DataType.FLOAT32 || type == own.computeType()) {
                    holds(transposeLeft, transposeRight, type, false, false);
                }
            }
            holds(transposeLeft, transposeRight, DataType.FLOAT32, true, false);
            if (!transposeLeft) {
                holds(false, transposeRight, own.computeType(), false, true);
            }
        }
    }

    private void holds(boolean transposeLeft, boolean transposeRight, DataType type, boolean accumulate,
            boolean hasBias) {
        String what = "[%d x %d] of %d terms, %s%s to %s%s".formatted(m, n, k, transposeLeft ? "t" : "n",
                transposeRight ? "t" : "n", type, accumulate ? ", added" : hasBias ? ", with a bias" : "");
        float[] expected = product(own, transposeLeft, transposeRight, type, accumulate, hasBias);
        float[] found = product(other, transposeLeft, transposeRight, type, accumulate, hasBias);
        for (int i = 0; i < expected.length; i++) {
            double rounding = type == DataType.BFLOAT16 ? BFLOAT16_ROOM * Math.abs(expected[i]) : 0;
            if (!(Math.abs(expected[i] - found[i]) <= ROOM * (k + 1) + rounding)) {
                assertEquals(expected[i], found[i], what + ", element " + i);
            }
        }
        assertArrayEquals(found, product(other, transposeLeft, transposeRight, type, accumulate, hasBias), what);
    }

    private float[] product(Engine engine, boolean transposeLeft, boolean transposeRight, DataType type,
            boolean accumulate, boolean hasBias) {
        Random numbers = new Random(m + 31L * k + 961L * n);
        DataType operands = engine.computeType();
        try (Tensor left = drawn(engine, operands, numbers, transposeLeft ? k : m, transposeLeft ? m : k);
                Tensor right = drawn(engine, operands, numbers, transposeRight ? n : k, transposeRight ? k : n);
                Tensor bias = drawn(engine, DataType.FLOAT32, numbers, n);
                Tensor product = drawn(engine, type, numbers, m, n)) {
            if (hasBias) {
                engine.linear(left, right, transposeRight, bias, product);
            } else {
                engine.matmul(left, transposeLeft, right, transposeRight, product, accumulate);
            }
            return read(engine, product);
        }
    }

    private static Tensor drawn(Engine engine, DataType type, Random numbers, int... sizes) {
        Tensor tensor = engine.allocate(type, Shape.of(sizes));
        int count = Math.toIntExact(tensor.shape().elementCount());
        if (type == DataType.FLOAT32) {
            float[] drawn = new float[count];
            for (int i = 0; i < count; i++) {
                drawn[i] = 2 * numbers.nextFloat() - 1;
            }
            engine.copyFromHost(MemorySegment.ofArray(drawn), tensor, 0);
        } else {
            short[] drawn = new short[count];
            for (int i = 0; i < count; i++) {
                drawn[i] = Bfloat16.of(2 * numbers.nextFloat() - 1);
            }
            engine.copyFromHost(MemorySegment.ofArray(drawn), tensor, 0);
        }
        return tensor;
    }

    private static float[] read(Engine engine, Tensor tensor) {
        float[] numbers = new float[Math.toIntExact(tensor.shape().elementCount())];
        if (tensor.dataType() == DataType.FLOAT32) {
            engine.copyToHost(tensor, 0, MemorySegment.ofArray(numbers));
        } else {
            short[] bits = new short[numbers.length];
            engine.copyToHost(tensor, 0, MemorySegment.ofArray(bits));
            for (int i = 0; i < bits.length; i++) {
                numbers[i] = Bfloat16.toFloat(bits[i]);
            }
        }
        return numbers;
    }
}
