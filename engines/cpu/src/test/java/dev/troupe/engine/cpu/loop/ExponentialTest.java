package dev.troupe.engine.cpu.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.cpu.kernel.Gelu;
import dev.troupe.engine.cpu.memory.CpuMemory;
import dev.troupe.engine.cpu.memory.CpuTensor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of the exponential over a fine grid, of GELU on top of it, and at the limits of floats. */
@Tag("parity")
class ExponentialTest {
    private static final int COUNT = 100_003;

    private final CpuMemory memory = new CpuMemory();
    private final CpuTensor first = memory.allocate(DataType.FLOAT32, Shape.of(COUNT));
    private final CpuTensor second = memory.allocate(DataType.FLOAT32, Shape.of(COUNT));
    private final CpuTensor third = memory.allocate(DataType.FLOAT32, Shape.of(COUNT));
    private final long x = first.address();
    private final long y = second.address();
    private final long z = third.address();
    private final long scratch = memory.allocate(DataType.FLOAT32, Shape.of(1 << 18)).address();

    @AfterEach
    void giveBack() {
        memory.close();
    }

    @Test
    void shouldBeAccurateToOneAndAHalfUnits() {
        grid(-87, 88.36f);
        Exponential.ofRow(x, 0, y, COUNT, scratch);
        for (int i = 0; i < COUNT; i++) {
            double expected = Math.exp(Lanes.get(x, i));
            assertEquals(expected, Lanes.get(y, i), 1.5 * Math.ulp((float) expected), "e^" + Lanes.get(x, i));
            assertEquals(Exponential.of(Lanes.get(x, i)), Lanes.get(y, i), "e^x of a single " + Lanes.get(x, i));
        }
    }

    @Test
    void shouldSubtractTheShiftFirstAndSum() {
        grid(1000, 1004);
        double sum = Exponential.ofRow(x, 1002, x, COUNT, scratch);
        // The mean of e^x from -2 to 2 is sinh(2) / 2.
        assertEquals(Math.sinh(2) / 2, sum / COUNT, 1e-4);
        assertEquals(Math.exp(-2), Lanes.get(x, 0), 1e-6);
        assertEquals(Math.exp(2), Lanes.get(x, COUNT - 1), 1e-5);
    }

    @Test
    void shouldEndAtTheLimitsOfFloats() {
        float[][] inputsAndResults = {{-87.1f, 0}, {Float.NEGATIVE_INFINITY, 0}, {0, 1}, {-0.0f, 1},
                {89, Float.POSITIVE_INFINITY}, {Float.POSITIVE_INFINITY, Float.POSITIVE_INFINITY},
                {Float.NaN, Float.NaN}};
        for (float[] pair : inputsAndResults) {
            for (int i = 0; i < Lanes.COUNT; i++) {
                Lanes.set(x, i, pair[0]);
            }
            Exponential.ofRow(x, 0, y, Lanes.COUNT, scratch);
            assertEquals(pair[1], Lanes.get(y, Lanes.COUNT - 1), "e^" + pair[0]);
            assertEquals(pair[1], Exponential.of(pair[0]), "e^x of a single " + pair[0]);
        }
    }

    @Test
    void shouldComputeGeluAndItsSlopeToAUnitOfTheirSize() {
        grid(-12, 12);
        Gelu.forward(first, third, 0, COUNT, scratch);
        Elements.fill(y, 1, COUNT);
        Gelu.backward(first, second, second, 0, COUNT, scratch);
        double root = Math.sqrt(2 / Math.PI);
        for (int i = 0; i < COUNT; i++) {
            double at = Lanes.get(x, i);
            double tanh = Math.tanh(root * (at + 0.044715 * at * at * at));
            assertEquals(at / 2 * (1 + tanh), Lanes.get(z, i), 2e-7 * Math.max(1e-3, Math.abs(at)), "gelu of " + at);
            double slope = (1 + tanh) / 2 + at / 2 * (1 - tanh * tanh) * root * (1 + 3 * 0.044715 * at * at);
            assertEquals(slope, Lanes.get(y, i), 2e-7 * (1 + Math.abs(at) + 0.11 * Math.abs(at * at * at)),
                    "slope at " + at);
        }
    }

    @Test
    void shouldFindTheSumAndTheLargestOfAllLanes() {
        float expected = 0;
        for (int i = 0; i < Lanes.COUNT; i++) {
            Lanes.set(x, i, 1 << i);
            expected += 1 << i;
        }
        assertEquals(expected, Lanes.sum(x));
        assertEquals(1 << Lanes.COUNT - 1, Lanes.largest(x));
        assertTrue(Lanes.COUNT >= 2, "the sum takes lanes in pairs");
    }

    private void grid(float from, float to) {
        for (int i = 0; i < COUNT; i++) {
            Lanes.set(x, i, (float) (from + ((double) to - from) * i / (COUNT - 1)));
        }
    }
}
