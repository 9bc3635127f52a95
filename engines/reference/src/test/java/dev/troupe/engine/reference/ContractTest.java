package dev.troupe.engine.reference;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.provider.EngineProvider;
import dev.troupe.engine.provider.EngineSettings;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.ServiceLoader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The contract of the reference engine apart from numbers: bytes, rounding, adding and shared operands. */
@Tag("parity")
class ContractTest {
    private final Fixture fixture = new Fixture(DataType.FLOAT64, 3);
    private final ReferenceEngine engine = fixture.engine;

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void shouldBeFoundByItsKind() {
        EngineProvider provider = ServiceLoader.load(EngineProvider.class).stream().map(ServiceLoader.Provider::get)
                .filter(found -> found.kind().equals("reference")).findFirst().orElseThrow();
        EngineSettings settings = new EngineSettings(DataType.FLOAT32, 2);
        assertTrue(provider.obstacle(settings).isEmpty());
        try (var opened = provider.open(settings)) {
            assertEquals("reference", opened.kind());
            assertEquals(DataType.FLOAT32, opened.parameterType());
        }
    }

    @ParameterizedTest
    @EnumSource(DataType.class)
    void shouldCopyLittleEndianBytes(DataType dataType) {
        int width = dataType.elementBytes();
        ByteBuffer bytes = ByteBuffer.allocate(3 * width).order(ByteOrder.LITTLE_ENDIAN);
        for (int number : new int[]{1, -2, 1 << 20}) {
            switch (dataType) {
                case FLOAT32 -> bytes.putFloat(number * 0.5f);
                case FLOAT64 -> bytes.putDouble(number * 0.1);
                case INT32 -> bytes.putInt(number);
            }
        }
        Tensor tensor = engine.allocate(dataType, Shape.of(5));
        engine.copyFromHost(MemorySegment.ofArray(bytes.array()), tensor, width);
        byte[] all = new byte[5 * width];
        engine.copyToHost(tensor, 0, MemorySegment.ofArray(all));
        byte[] expected = new byte[5 * width];
        System.arraycopy(bytes.array(), 0, expected, width, 3 * width);
        assertArrayEquals(expected, all);
    }

    @Test
    void shouldAddIfTheContractRequiresIt() {
        Tensor dy = fixture.of(new double[]{1, 2, 3, 4}, 2, 2);
        Tensor dBias = fixture.of(new double[]{10, 20}, 2);
        engine.biasBackward(dy, dBias);
        assertArrayEquals(new double[]{14, 26}, fixture.read(dBias));

        Tensor tokens = fixture.ints(1, 1);
        Tensor dTokens = fixture.of(new double[]{1, 1, 1, 1}, 2, 2);
        Tensor dPositions = fixture.of(new double[]{1, 1, 1, 1}, 2, 2);
        engine.embeddingBackward(tokens, dy, 2, dTokens, dPositions);
        assertArrayEquals(new double[]{1, 1, 5, 7}, fixture.read(dTokens));
        assertArrayEquals(new double[]{2, 3, 4, 5}, fixture.read(dPositions));
    }

    @Test
    void shouldAddLayerNormGradientsToExistingOnes() {
        Tensor x = fixture.random(3, 5);
        Tensor dy = fixture.random(3, 5);
        Tensor gamma = fixture.random(5);
        Tensor mean = fixture.random(3);
        Tensor reciprocal = fixture.random(3);
        Tensor alone = fixture.random(3, 5);
        Tensor added = fixture.random(3, 5);
        double[] before = fixture.read(added);
        engine.layerNormBackwardInput(dy, x, gamma, mean, reciprocal, alone, false);
        engine.layerNormBackwardInput(dy, x, gamma, mean, reciprocal, added, true);
        double[] gradient = fixture.read(alone);
        double[] found = fixture.read(added);
        for (int i = 0; i < before.length; i++) {
            assertEquals(before[i] + gradient[i], found[i]);
        }
    }

    @Test
    void shouldWriteTheSameInPlaceAsElsewhere() {
        Tensor dy = fixture.random(3, 5);
        Tensor x = fixture.random(3, 5);
        Tensor gamma = fixture.random(5);
        Tensor rows = fixture.random(3);
        Tensor apart = fixture.random(3, 5);
        Tensor within = fixture.random(3, 5);

        engine.copy(dy, within);
        engine.layerNormBackwardInput(dy, x, gamma, rows, rows, apart, false);
        engine.layerNormBackwardInput(within, x, gamma, rows, rows, within, false);
        assertArrayEquals(fixture.read(apart), fixture.read(within));

        engine.copy(dy, within);
        engine.geluBackward(x, dy, apart);
        engine.geluBackward(x, within, within);
        assertArrayEquals(fixture.read(apart), fixture.read(within));

        engine.copy(dy, within);
        engine.add(dy, dy, apart);
        engine.add(within, within, within);
        assertArrayEquals(fixture.read(apart), fixture.read(within));
    }

    @Test
    void shouldAccumulateMicrobatchesToTheBitsOfTheWholeBatch() {
        Tensor x = fixture.random(6, 4);
        Tensor dy = fixture.random(6, 3);
        Tensor whole = fixture.zeros(4, 3);
        Tensor summed = fixture.zeros(4, 3);
        engine.matmul(x, true, dy, false, whole, true);
        double[] rows = fixture.read(x);
        double[] gradients = fixture.read(dy);
        for (int microbatch = 0; microbatch < 3; microbatch++) {
            Tensor part = fixture.of(Arrays.copyOfRange(rows, microbatch * 8, microbatch * 8 + 8), 2, 4);
            Tensor dPart = fixture.of(Arrays.copyOfRange(gradients, microbatch * 6, microbatch * 6 + 6), 2,
                    3);
            engine.matmul(part, true, dPart, false, summed, true);
        }
        assertArrayEquals(fixture.read(whole), fixture.read(summed));
    }

    @Test
    void shouldRoundTheResultsOfFloat64ToFloat32() {
        try (Fixture narrow = new Fixture(DataType.FLOAT32, 3)) {
            Tensor left = narrow.random(97);
            Tensor right = narrow.random(97);
            Tensor sum = narrow.zeros(97);
            Tensor wideLeft = fixture.of(narrow.read(left), 97);
            Tensor wideRight = fixture.of(narrow.read(right), 97);
            Tensor wideSum = fixture.zeros(97);

            narrow.engine.add(left, right, sum);
            engine.add(wideLeft, wideRight, wideSum);
            assertArrayEquals(rounded(fixture.read(wideSum)), narrow.read(sum));

            narrow.engine.geluBackward(left, right, sum);
            engine.geluBackward(wideLeft, wideRight, wideSum);
            assertArrayEquals(rounded(fixture.read(wideSum)), narrow.read(sum));

            narrow.engine.sgd(left, right, 0.1, 0.2, 0.3);
            engine.sgd(wideLeft, wideRight, 0.1, 0.2, 0.3);
            assertArrayEquals(rounded(fixture.read(wideLeft)), narrow.read(left));

            narrow.engine.fill(sum, 0.1);
            assertEquals((double) 0.1f, narrow.read(sum)[96]);
        }
    }

    private static double[] rounded(double[] numbers) {
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = (float) numbers[i];
        }
        return numbers;
    }
}
