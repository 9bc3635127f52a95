package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.cuda.ptx.InterpretedDevice;
import dev.troupe.engine.cuda.ptx.PtxModule;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Products of bfloat16 with aligned operands, which the conformance tests lack: tensor cores read them by
 * asynchronous copies. They have the bits of the same products of operands that are not.
 */
@Tag("parity")
class AlignedProductsTest {
    @ParameterizedTest
    @CsvSource({"128, 64, 128", "136, 72, 264", "8, 8, 8"})
    void shouldAgreeInEveryForm(int m, int k, int n) {
        for (int form = 0; form < 4; form++) {
            agrees(Interpreted.MODULE, m, k, n, (form & 2) != 0, (form & 1) != 0);
        }
    }

    static void agrees(PtxModule module, int m, int k, int n, boolean transposeLeft, boolean transposeRight) {
        short[] left = numbers(m * k, 1);
        short[] right = numbers(k * n, 2);
        try (Engine engine = new CheckedEngine(
                new CudaEngine(new InterpretedDevice(module, new Random(m)), DataType.BFLOAT16))) {
            float[] found = product(engine, left, right, m, k, n, transposeLeft, transposeRight, 0);
            for (int row = 0; row < m; row += 7) {
                for (int column = 0; column < n; column += 5) {
                    double sum = 0;
                    double magnitudes = 0;
                    for (int i = 0; i < k; i++) {
                        double term = (double) Bfloat16.toFloat(left[transposeLeft ? i * m + row : row * k + i])
                                * Bfloat16.toFloat(right[transposeRight ? column * k + i : i * n + column]);
                        sum += term;
                        magnitudes += Math.abs(term);
                    }
                    assertEquals(sum, found[row * n + column], magnitudes * 0x1p-20,
                            "element " + row + ", " + column);
                }
            }
            assertArrayEquals(found, product(engine, left, right, m, k, n, transposeLeft, transposeRight, 1));
        }
    }

    /** The product of operands that begin a number of elements after an aligned address. */
    private static float[] product(Engine engine, short[] left, short[] right, int m, int k, int n,
            boolean transposeLeft, boolean transposeRight, int offset) {
        Tensor a = operand(engine, left, transposeLeft ? k : m, transposeLeft ? m : k, offset);
        Tensor b = operand(engine, right, transposeRight ? n : k, transposeRight ? k : n, offset);
        Tensor c = engine.allocate(DataType.FLOAT32, Shape.of(m, n));
        engine.matmul(a, transposeLeft, b, transposeRight, c, false);
        float[] found = new float[m * n];
        engine.copyToHost(c, 0, MemorySegment.ofArray(found));
        return found;
    }

    private static Tensor operand(Engine engine, short[] numbers, int rows, int columns, int offset) {
        Tensor buffer = engine.allocate(DataType.BFLOAT16, Shape.of(numbers.length + offset));
        Tensor operand = engine.range(buffer, offset, Shape.of(rows, columns));
        engine.copyFromHost(MemorySegment.ofArray(numbers), operand, 0);
        return operand;
    }

    private static short[] numbers(int count, long seed) {
        Random random = new Random(seed);
        short[] numbers = new short[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = Bfloat16.of((float) random.nextGaussian());
        }
        return numbers;
    }
}
