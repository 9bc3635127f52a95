package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.reference.ReferenceEngine;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Attention of heads as large as in real models, which have their own kernels. */
@ExtendWith(DrawnOrders.class)
@Tag("parity")
class HeadSizesTest {
    private static final int HEADS = 2;
    private static final int PLACES = 37;

    @ParameterizedTest
    @ValueSource(ints = {64, 80, 128, 200})
    void shouldAgreeWithReference(int d) {
        try (Engine engine = Interpreted.engine(DataType.FLOAT32);
                Engine reference = new ReferenceEngine(DataType.FLOAT32)) {
            float[][] expected = attend(reference, d);
            float[][] found = attend(engine, d);
            for (int i = 0; i < 2; i++) {
                for (int j = 0; j < expected[i].length; j++) {
                    assertEquals(expected[i][j], found[i][j], 2e-4, "d " + d + ", result " + i + ", element " + j);
                }
            }
        }
    }

    @Test
    void shouldRefuseLargerHeads() {
        try (Engine engine = Interpreted.engine(DataType.FLOAT32)) {
            assertEquals("the cuda engine has attention for heads of up to 256 numbers, but found 257",
                    assertThrows(IllegalArgumentException.class, () -> attend(engine, 257)).getMessage());
        }
    }

    private static float[][] attend(Engine engine, int d) {
        int c = HEADS * d;
        Tensor qkv = gaussian(engine, 3 * c, 1);
        Tensor dy = gaussian(engine, c, 2);
        Tensor y = engine.allocate(DataType.FLOAT32, Shape.of(PLACES, c));
        Tensor state = engine.allocate(DataType.FLOAT32, engine.attentionStateShape(1, PLACES, HEADS));
        Tensor dQkv = engine.allocate(DataType.FLOAT32, qkv.shape());
        engine.causalAttention(qkv, PLACES, HEADS, state, y);
        engine.causalAttentionBackward(dy, qkv, y, state, PLACES, HEADS, dQkv);
        return new float[][]{read(engine, y), read(engine, dQkv)};
    }

    private static Tensor gaussian(Engine engine, int columns, long seed) {
        Random random = new Random(seed);
        float[] numbers = new float[PLACES * columns];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = (float) random.nextGaussian();
        }
        Tensor tensor = engine.allocate(DataType.FLOAT32, Shape.of(PLACES, columns));
        engine.copyFromHost(MemorySegment.ofArray(numbers), tensor, 0);
        return tensor;
    }

    private static float[] read(Engine engine, Tensor tensor) {
        float[] numbers = new float[(int) tensor.shape().elementCount()];
        engine.copyToHost(tensor, 0, MemorySegment.ofArray(numbers));
        return numbers;
    }
}
