package dev.troupe.engine.cuda;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.check.CheckedEngine;
import dev.troupe.engine.cuda.ptx.InterpretedDevice;
import dev.troupe.engine.cuda.ptx.PtxFault;
import dev.troupe.engine.cuda.ptx.PtxModule;
import dev.troupe.engine.reference.ReferenceEngine;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Attention of bfloat16 by tensor cores: what is the same to the bit, and that defects planted in its kernels are found. The
 * conformance tests have its numbers.
 */
@ExtendWith(DrawnOrders.class)
@Tag("parity")
class TensorCoreAttentionTest {
    private static final int HEADS = 2;
    private static final int ORDERS = 2;
    private static final Dropout DROPOUT = new Dropout(0.2, 3, 5, 1, 4, HEADS, 0, 0);
    /** The instruction that hides keys from a query, and the comparison before it. */
    private static final Pattern EDGE = Pattern.compile("setp\\.gt\\.s32( [^;]*;\\s*selp\\.f32 %f\\d+, 0fFF800000,)");

    /** One sequence of heads of D numbers; of odd length, and longer than what a block of these heads has. */
    private record Call(int d, int keyValueHeads, Dropout dropout) {
        int places() {
            return d > 64 ? 75 : 135;
        }

        int width() {
            return HEADS * d;
        }

        int keyWidth() {
            return keyValueHeads * d;
        }

        float[] numbers(int columns, long seed) {
            Random random = new Random(seed);
            float[] numbers = new float[places() * columns];
            for (int i = 0; i < numbers.length; i++) {
                numbers[i] = (float) Bfloat16.round(random.nextGaussian());
            }
            return numbers;
        }

        float[] queries() {
            return numbers(width(), 1);
        }

        float[] keys() {
            return numbers(keyWidth(), 2);
        }

        float[] values() {
            return numbers(keyWidth(), 3);
        }

        float[] gradients() {
            return numbers(width(), 4);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 72, 128})
    void shouldGiveTheSameBitsInAnyOrderAndWhereverOperandsBegin(int d) {
        Call call = new Call(d, 1, DROPOUT);
        float[][] expected = apart(Interpreted.engine(DataType.BFLOAT16), call, 0);
        for (int i = 1; i <= ORDERS; i++) {
            assertSame(expected, apart(Interpreted.engine(DataType.BFLOAT16), call, i));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 128})
    void shouldGiveTheSameBitsForPackedOperands(int d) {
        Call call = new Call(d, HEADS, DROPOUT);
        assertSame(apart(Interpreted.engine(DataType.BFLOAT16), call, 0),
                packed(Interpreted.engine(DataType.BFLOAT16), call));
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 128})
    void shouldAgreeWithReference(int d) {
        agrees(Interpreted.MODULE, d);
    }

    @ParameterizedTest
    @CsvSource({"attention_cores_d64, 4", "attention_cores_queries_d64, 5", "attention_cores_keys_d64, 5"})
    void shouldDetectEachMissingBarrier(String kernel, int count) {
        for (int i = 0; i < count; i++) {
            PtxModule planted = without(kernel, "bar.sync 0;", i, count);
            String message = assertThrows(PtxFault.class, () -> agrees(planted, 64), kernel + ", barrier " + i)
                    .getMessage();
            assertTrue(message.contains("a race: "), message);
        }
    }

    @ParameterizedTest
    @CsvSource({"attention_cores_d64, cp.async.wait_group 1;, 1", "attention_cores_d64, cp.async.wait_group 0;, 1",
            "attention_cores_queries_d64, cp.async.wait_group 0;, 2",
            "attention_cores_keys_d64, cp.async.wait_group 0;, 2"})
    void shouldDetectEachCopyWithoutAWait(String kernel, String wait, int count) {
        for (int i = 0; i < count; i++) {
            PtxModule planted = without(kernel, wait, i, count);
            Throwable found = assertThrows(Throwable.class, () -> agrees(planted, 64), kernel + ", wait " + i);
            assertTrue(found instanceof AssertionError || found instanceof PtxFault, () -> "not found: " + found);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"attention_cores_d64", "attention_cores_queries_d64", "attention_cores_keys_d64"})
    void shouldDetectAMaskThatIsOffByOne(String kernel) {
        PtxModule planted = Interpreted.planted(kernel, body -> EDGE.matcher(body).replaceAll("setp.ge.s32$1"));
        assertThrows(AssertionError.class, () -> agrees(planted, 64), kernel);
    }

    /** Within the rounding of probabilities and results to bfloat16, of the largest number of each result. */
    private static void agrees(PtxModule module, int d) {
        Call call = new Call(d, 1, Dropout.NONE);
        float[][] expected = apart(new ReferenceEngine(DataType.FLOAT32), call, 0);
        float[][] found = apart(engine(module), call, 0);
        for (int i = 0; i < expected.length; i++) {
            float largest = 0;
            for (float number : expected[i]) {
                largest = Math.max(largest, Math.abs(number));
            }
            for (int j = 0; j < expected[i].length; j++) {
                assertEquals(expected[i][j], found[i][j], largest * 0x1p-7,
                        "d " + d + ", result " + i + ", element " + j);
            }
        }
    }

    private static Engine engine(PtxModule module) {
        return new CheckedEngine(new CudaEngine(new InterpretedDevice(module, new Random(9)), DataType.BFLOAT16));
    }

    /** y and the gradients for queries, keys and values, of operands at an offset of some elements. */
    private static float[][] apart(Engine engine, Call call, int offset) {
        try (engine) {
            int places = call.places();
            Tensor queries = filled(engine, call.queries(), call.width(), offset);
            Tensor keys = filled(engine, call.keys(), call.keyWidth(), offset);
            Tensor values = filled(engine, call.values(), call.keyWidth(), offset);
            Tensor dy = filled(engine, call.gradients(), call.width(), offset);
            Tensor y = operand(engine, places, call.width(), offset);
            Tensor state = engine.allocate(DataType.FLOAT32, engine.attentionStateShape(1, places, HEADS));
            Tensor dQueries = operand(engine, places, call.width(), offset);
            Tensor dKeys = operand(engine, places, call.keyWidth(), offset);
            Tensor dValues = operand(engine, places, call.keyWidth(), offset);
            engine.groupedAttention(queries, keys, values, null, places, HEADS, call.keyValueHeads, call.dropout, state,
                    y);
            engine.groupedAttentionBackward(dy, queries, keys, values, null, y, state, places, HEADS,
                    call.keyValueHeads, call.dropout, dQueries, dKeys, dValues);
            return new float[][]{read(engine, y), read(engine, dQueries), read(engine, dKeys), read(engine, dValues)};
        }
    }

    /** The same with queries, keys and values in one matrix. */
    private static float[][] packed(Engine engine, Call call) {
        try (engine) {
            int places = call.places();
            int width = call.width();
            float[][] parts = {call.queries(), call.keys(), call.values()};
            float[] all = new float[3 * places * width];
            for (int i = 0; i < all.length; i++) {
                all[i] = parts[i / width % 3][i / (3 * width) * width + i % width];
            }
            Tensor qkv = filled(engine, all, 3 * width, 0);
            Tensor dy = filled(engine, call.gradients(), width, 0);
            Tensor y = operand(engine, places, width, 0);
            Tensor state = engine.allocate(DataType.FLOAT32, engine.attentionStateShape(1, places, HEADS));
            Tensor dQkv = operand(engine, places, 3 * width, 0);
            engine.causalAttention(qkv, places, HEADS, call.dropout, state, y);
            engine.causalAttentionBackward(dy, qkv, y, state, places, HEADS, call.dropout, dQkv);
            float[] gradients = read(engine, dQkv);
            float[][] results = {read(engine, y), new float[places * width], new float[places * width],
                    new float[places * width]};
            for (int i = 0; i < gradients.length; i++) {
                results[1 + i / width % 3][i / (3 * width) * width + i % width] = gradients[i];
            }
            return results;
        }
    }

    private static Tensor operand(Engine engine, int rows, int columns, int offset) {
        Tensor buffer = engine.allocate(engine.computeType(), Shape.of(rows * columns + offset));
        return engine.range(buffer, offset, Shape.of(rows, columns));
    }

    private static Tensor filled(Engine engine, float[] numbers, int columns, int offset) {
        Tensor tensor = operand(engine, numbers.length / columns, columns, offset);
        if (engine.computeType() == DataType.FLOAT32) {
            engine.copyFromHost(MemorySegment.ofArray(numbers), tensor, 0);
        } else {
            short[] bits = new short[numbers.length];
            for (int i = 0; i < bits.length; i++) {
                bits[i] = Bfloat16.of(numbers[i]);
            }
            engine.copyFromHost(MemorySegment.ofArray(bits), tensor, 0);
        }
        return tensor;
    }

    private static float[] read(Engine engine, Tensor tensor) {
        float[] numbers = new float[(int) tensor.shape().elementCount()];
        if (engine.computeType() == DataType.FLOAT32) {
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

    private static void assertSame(float[][] expected, float[][] found) {
        for (int i = 0; i < expected.length; i++) {
            assertArrayEquals(expected[i], found[i], "result " + i);
        }
    }

    /** The module without one of the instructions of this text in one kernel. */
    private static PtxModule without(String kernel, String instruction, int index, int count) {
        return Interpreted.planted(kernel, body -> {
            String[] parts = body.split(Pattern.quote(instruction), -1);
            assertEquals(count, parts.length - 1, kernel + ": how often it has " + instruction);
            StringBuilder changed = new StringBuilder(parts[0]);
            for (int i = 0; i < count; i++) {
                changed.append(i == index ? "" : instruction).append(parts[i + 1]);
            }
            return changed.toString();
        });
    }
}
