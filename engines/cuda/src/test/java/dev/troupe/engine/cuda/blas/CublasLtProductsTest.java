package dev.troupe.engine.cuda.blas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.DataType;
import dev.troupe.engine.cuda.blas.StandInCublasLt.Answer;
import dev.troupe.engine.cuda.device.DeviceException;
import dev.troupe.engine.cuda.device.DeviceStream;
import dev.troupe.engine.cuda.ptx.InterpretedDevice;
import dev.troupe.engine.cuda.ptx.PtxModule;
import dev.troupe.engine.provider.LostDeviceException;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Products by a stand-in for the library, which multiplies by its description. The three sides differ, so that none is
 * taken for another.
 */
@Tag("parity")
class CublasLtProductsTest {
    private static final int M = 5;
    private static final int N = 7;
    private static final int K = 3;

    private final InterpretedDevice device = InterpretedDevice.late(new PtxModule(""), new Random(1));
    private final DeviceStream stream = device.openStream();
    private final Random random = new Random(2);

    @ParameterizedTest
    @CsvSource({"FLOAT32, FLOAT32, false, false", "FLOAT32, FLOAT32, true, false", "FLOAT32, FLOAT32, false, true",
            "BFLOAT16, BFLOAT16, false, false", "BFLOAT16, FLOAT32, false, false", "BFLOAT16, FLOAT32, true, false",
            "BFLOAT16, BFLOAT16, false, true"})
    void shouldMultiplyInEveryForm(DataType operands, DataType product, boolean accumulate, boolean hasBias) {
        StandInCublasLt standIn = new StandInCublasLt(device, _ -> Answer.HAS);
        try (CublasLtProducts products = new CublasLtProducts(standIn.library(), stream)) {
            for (int sides = 0; sides < 4; sides++) {
                agrees(products,
                        new ProductSpec(M, N, K, (sides & 2) != 0, (sides & 1) != 0, operands, product, hasBias),
                        accumulate);
            }
        }
        assertEquals(4, standIn.products());
        assertEquals(0, standIn.open());
    }

    private void agrees(CublasLtProducts products, ProductSpec spec, boolean accumulate) {
        float[] left = numbers(M * K, spec.operands());
        float[] right = numbers(K * N, spec.operands());
        float[] bias = numbers(N, DataType.FLOAT32);
        float[] before = numbers(M * N, spec.product());
        if (!accumulate) {
            before[3] = Float.NaN; // it is not read
        }
        long product = onDevice(before, spec.product());
        assertTrue(products.multiply(spec, onDevice(left, spec.operands()), onDevice(right, spec.operands()),
                spec.hasBias() ? onDevice(bias, DataType.FLOAT32) : 1, product, accumulate));
        float[] found = fromDevice(product, M * N, spec.product());
        for (int row = 0; row < M; row++) {
            for (int column = 0; column < N; column++) {
                double sum = (accumulate ? before[row * N + column] : 0) + (spec.hasBias() ? bias[column] : 0);
                for (int i = 0; i < K; i++) {
                    sum += (double) left[spec.transposeLeft() ? i * M + row : row * K + i]
                            * right[spec.transposeRight() ? column * K + i : i * N + column];
                }
                double room = spec.product() == DataType.BFLOAT16 ? 0x1p-8 : 0x1p-22;
                assertEquals(sum, found[row * N + column], room * Math.max(1, Math.abs(sum)),
                        spec + ", element " + row + ", " + column);
            }
        }
    }

    private float[] numbers(int count, DataType type) {
        float[] numbers = new float[count];
        for (int i = 0; i < count; i++) {
            float drawn = (float) random.nextGaussian();
            numbers[i] = type == DataType.BFLOAT16 ? Bfloat16.toFloat(Bfloat16.of(drawn)) : drawn;
        }
        return numbers;
    }

    private long onDevice(float[] numbers, DataType type) {
        long address = stream.allocate((long) numbers.length * type.elementBytes());
        if (type == DataType.FLOAT32) {
            stream.fromHost(MemorySegment.ofArray(numbers), address);
        } else {
            short[] bits = new short[numbers.length];
            for (int i = 0; i < bits.length; i++) {
                bits[i] = Bfloat16.of(numbers[i]);
            }
            stream.fromHost(MemorySegment.ofArray(bits), address);
        }
        return address;
    }

    private float[] fromDevice(long address, int count, DataType type) {
        float[] numbers = new float[count];
        if (type == DataType.FLOAT32) {
            stream.toHost(address, MemorySegment.ofArray(numbers));
        } else {
            short[] bits = new short[count];
            stream.toHost(address, MemorySegment.ofArray(bits));
            for (int i = 0; i < count; i++) {
                numbers[i] = Bfloat16.toFloat(bits[i]);
            }
        }
        return numbers;
    }

    @Test
    void shouldAskOnceForEachKindOfProduct() {
        StandInCublasLt standIn = new StandInCublasLt(device);
        try (CublasLtProducts products = new CublasLtProducts(standIn.library(), stream)) {
            for (int round = 0; round < 3; round++) {
                multiply(products, floats(4, 4, 4));
                multiply(products, floats(4, 4, 8));
                assertFalse(products.multiply(
                        new ProductSpec(4, 4, 4, false, false, DataType.BFLOAT16, DataType.BFLOAT16, true), 0, 0, 0, 0,
                        false), "by the tables there is no algorithm");
            }
            assertEquals(3, standIn.heuristics());
            assertEquals(6, standIn.products());
        }
    }

    private static ProductSpec floats(int m, int n, int k) {
        return new ProductSpec(m, n, k, false, false, DataType.FLOAT32, DataType.FLOAT32, false);
    }

    /** Of operands and a product that begin so many bytes after an aligned address. */
    private boolean multiply(CublasLtProducts products, ProductSpec spec, long left, long right, long product) {
        return products.multiply(spec, onDevice(new float[100], DataType.FLOAT32) + left,
                onDevice(new float[100], DataType.FLOAT32) + right, 0,
                onDevice(new float[100], DataType.FLOAT32) + product, false);
    }

    private boolean multiply(CublasLtProducts products, ProductSpec spec) {
        return multiply(products, spec, 0, 0, 0);
    }

    @Test
    void shouldLeaveProductsThatTheLibraryRefuses() {
        Map<Long, Answer> answers = Map.of(5L, Answer.NONE, 6L, Answer.REFUSES, 7L, Answer.NONE_VALID);
        StandInCublasLt standIn = new StandInCublasLt(device, asked -> answers.getOrDefault(asked.k(), Answer.HAS));
        try (CublasLtProducts products = new CublasLtProducts(standIn.library(), stream)) {
            assertTrue(products.serves(floats(4, 4, 4)));
            assertFalse(products.serves(floats(4, 4, 5)));
            assertFalse(products.serves(floats(4, 4, 6)));
            assertFalse(multiply(products, floats(4, 4, 5)));
            assertFalse(multiply(products, floats(4, 4, 6)));
            assertFalse(multiply(products, floats(4, 4, 7)));
        }
    }

    @Test
    void shouldDistinguishAnErrorFromARefusal() {
        StandInCublasLt standIn = new StandInCublasLt(device, _ -> Answer.INVALID);
        try (CublasLtProducts products = new CublasLtProducts(standIn.library(), stream)) {
            assertTrue(assertThrows(DeviceException.class, () -> products.serves(floats(4, 4, 4))).getMessage()
                    .endsWith("could not find an algorithm for a product: CUBLAS_STATUS_INVALID_VALUE (status 7)"));
            assertFalse(products.serves(new ProductSpec(4, 4, 4, false, false, DataType.BFLOAT16, DataType.BFLOAT16,
                    true)), "a bias of another type");
        }
    }

    @Test
    void shouldTakeOperandsThatAreAlignedTo16Bytes() {
        StandInCublasLt standIn = new StandInCublasLt(device, _ -> Answer.HAS);
        try (CublasLtProducts products = new CublasLtProducts(standIn.library(), stream)) {
            ProductSpec spec = floats(4, 4, 4);
            assertFalse(multiply(products, spec, 8, 0, 0));
            assertFalse(multiply(products, spec, 0, 8, 0));
            assertFalse(multiply(products, spec, 0, 0, 8));
            assertTrue(multiply(products, spec, 16, 16, 16));
            ProductSpec biased = new ProductSpec(4, 4, 4, false, false, DataType.FLOAT32, DataType.FLOAT32, true);
            long numbers = onDevice(new float[100], DataType.FLOAT32);
            long product = onDevice(new float[100], DataType.FLOAT32);
            assertFalse(products.multiply(biased, numbers, numbers, numbers + 8, product, false));
            assertTrue(products.multiply(biased, numbers, numbers, numbers + 16, product, false));
            assertEquals(2, standIn.heuristics(), "an address chooses no algorithm");
        }
    }

    /** Engines of several devices are opened and closed by one thread. */
    @Test
    void shouldMakeItsDeviceCurrentInEachCall() {
        DeviceStream ofAnother = new InterpretedDevice(new PtxModule(""), random).openStream();
        StandInCublasLt standIn = new StandInCublasLt(device);
        CublasLtProducts products = new CublasLtProducts(standIn.library(), stream);
        ofAnother.handle();
        assertTrue(products.serves(floats(4, 4, 4)));
        ofAnother.handle();
        assertTrue(multiply(products, floats(4, 4, 4)));
        ofAnother.handle();
        products.close();
        assertEquals(0, standIn.open());
    }

    @Test
    void shouldRaiseFailuresOfTheDevice() {
        try (CublasLtProducts products = new CublasLtProducts(new StandInCublasLt(device).library(), stream)) {
            assertTrue(assertThrows(RuntimeException.class, () -> {
                multiply(products, floats(1 << 10, 4, 4)); // larger than its operands
                stream.fence().await();
            }).getMessage().contains("lie outside all memory"));
        }
    }

    @Test
    void shouldFreeEverythingIfItIsRefused() {
        StandInCublasLt ofAnother = new StandInCublasLt(new InterpretedDevice(new PtxModule(""), random));
        assertTrue(assertThrows(DeviceException.class, () -> new CublasLtProducts(ofAnother.library(), stream))
                .getMessage().contains("could not begin: CUBLAS_STATUS_INTERNAL_ERROR"));
        device.lose("an illegal address");
        assertThrows(LostDeviceException.class,
                () -> new CublasLtProducts(new StandInCublasLt(device).library(), stream));
        assertEquals(0, ofAnother.open());
        assertEquals(0, device.openAllocations());
    }

    @Test
    void shouldReportALostDevice() {
        StandInCublasLt standIn = new StandInCublasLt(device);
        CublasLtProducts products = new CublasLtProducts(standIn.library(), stream);
        ProductSpec spec = floats(4, 4, 4);
        assertTrue(multiply(products, spec));
        standIn.loseDevice("an illegal address");
        for (int product = 0; product < 2; product++) {
            assertEquals("an illegal address", assertThrows(LostDeviceException.class,
                    () -> products.multiply(spec, 0, 0, 0, 0, false)).getMessage());
        }
        products.close();
        products.close();
        assertEquals(1, standIn.open(), "the handle went with the device");
    }

    @Test
    void shouldFreeItsMemory() {
        CublasLtProducts products = new CublasLtProducts(new StandInCublasLt(device).library(), stream);
        assertEquals(1, device.openAllocations());
        products.close();
        stream.fence().await();
        assertEquals(0, device.openAllocations());
    }
}
