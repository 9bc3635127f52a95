package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The backward of the embedding adds rows in their order, for any number of launches. */
@ExtendWith(DrawnOrders.class)
@Tag("parity")
class EmbeddingOrderTest {
    /** More than two launches. */
    private static final int N = 2 * 2048 + 5;
    private static final int C = 3;
    private static final int V = 4;

    @Test
    void shouldAddTheRowsOfATokenInTheirOrder() {
        Random random = new Random(5);
        int[] ids = random.ints(N, Engine.NOT_IN_SHARD, V).toArray();
        float[] rows = new float[N * C];
        float[] expected = new float[V * C];
        for (int i = 0; i < rows.length; i++) {
            // Magnitudes differ so much that every other order of a sum has other bits.
            rows[i] = (float) (random.nextGaussian() * Math.pow(2, random.nextInt(20)));
        }
        for (int i = 0; i < expected.length; i++) {
            expected[i] = random.nextFloat();
        }
        try (Engine engine = Interpreted.engine(DataType.FLOAT32);
                Tensor tokens = engine.allocate(DataType.INT32, Shape.of(N));
                Tensor dy = engine.allocate(DataType.FLOAT32, Shape.of(N, C));
                Tensor table = engine.allocate(DataType.FLOAT32, Shape.of(V, C))) {
            engine.copyFromHost(MemorySegment.ofArray(ids), tokens, 0);
            engine.copyFromHost(MemorySegment.ofArray(rows), dy, 0);
            engine.copyFromHost(MemorySegment.ofArray(expected), table, 0);
            engine.embeddingBackward(tokens, dy, 1, table, null);
            float[] found = new float[V * C];
            engine.copyToHost(table, 0, MemorySegment.ofArray(found));
            for (int n = 0; n < N; n++) {
                for (int j = 0; j < C && ids[n] != Engine.NOT_IN_SHARD; j++) {
                    expected[ids[n] * C + j] += rows[n * C + j];
                }
            }
            assertArrayEquals(expected, found);
        }
    }
}
