package dev.troupe.engine.conformance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests of tensors that are ranges of others; the cases of kernels test that kernels take them. */
abstract class RangeConformance extends MemoryConformance {
    /** Beginnings of a stage's parameters; an optimizer's result for an element must not depend on its neighbours. */
    private static final int ALIGNMENT = 64;

    @Test
    final void shouldReadTheBufferThroughARange() {
        Engine engine = engine();
        for (DataType dataType : new DataType[]{engine.parameterType(), DataType.INT32}) {
            try (Tensor buffer = engine.allocate(dataType, Shape.of(2, 5))) {
                HostMemory.write(engine, buffer, new double[]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
                Tensor range = engine.range(buffer, 3, Shape.of(3, 2));
                assertEquals(dataType, range.dataType());
                assertEquals(Shape.of(3, 2), range.shape());
                assertArrayEquals(new double[]{3, 4, 5, 6, 7, 8}, HostMemory.read(engine, range));

                HostMemory.write(engine, range, new double[]{30, 40, 50, 60, 70, 80});
                assertArrayEquals(new double[]{0, 1, 2, 30, 40, 50, 60, 70, 80, 9}, HostMemory.read(engine, buffer));

                Tensor inner = engine.range(range, 2, Shape.of(1));
                HostMemory.write(engine, buffer, new double[]{0, 1, 2, 3, 4, 55, 6, 7, 8, 9});
                assertArrayEquals(new double[]{55}, HostMemory.read(engine, inner));
            }
        }
    }

    @Test
    final void shouldWriteThroughARangeIntoItsBuffer() {
        Engine engine = engine();
        try (Tensor buffer = engine.allocate(engine.parameterType(), Shape.of(6))) {
            HostMemory.write(engine, buffer, new double[]{0, 1, 2, 3, 4, 5});
            Tensor left = engine.range(buffer, 0, Shape.of(3));
            Tensor right = engine.range(buffer, 3, Shape.of(3));
            engine.add(left, right, right);
            engine.fill(left, 7);
            assertArrayEquals(new double[]{7, 7, 7, 3, 5, 7}, HostMemory.read(engine, buffer));
            engine.scale(buffer, 2);
            try (Tensor sums = engine.allocate(DataType.FLOAT64, Shape.of(3))) {
                engine.sum(right, sums, 0);
                engine.squaredSum(right, engine.range(sums, 1, Shape.of(2)), 1);
                assertArrayEquals(new double[]{30, 0, 36 + 100 + 196}, HostMemory.read(engine, sums));
            }
        }
    }

    /** The products are large enough for an engine to pack their right side. */
    @Test
    final void shouldKeepNoCopyOfTheBeginningOfABuffer() {
        Engine engine = engine();
        int size = 128;
        try (Tensor buffer = engine.allocate(engine.computeType(), Shape.of(2 * size, size));
                Tensor left = engine.allocate(engine.computeType(), Shape.of(size, size));
                Tensor product = engine.allocate(engine.computeType(), Shape.of(size, size))) {
            Tensor right = engine.beginning(buffer, Shape.of(size, size));
            HostMemory.write(engine, left, constant(size * size, 1));
            long bytes = engine.allocatedBytes();
            for (int value = 1; value <= 2; value++) {
                HostMemory.write(engine, buffer, constant(2 * size * size, value));
                engine.matmul(left, false, right, true, product, false);
                assertEquals(value * size, HostMemory.read(engine, product)[size + 1]);
            }
            assertEquals(bytes, engine.allocatedBytes());
            assertThrows(IllegalArgumentException.class, () -> engine.beginning(buffer, Shape.of(2 * size + 1, size)));
        }
    }

    private static double[] constant(int count, double value) {
        double[] values = new double[count];
        Arrays.fill(values, value);
        return values;
    }

    @Test
    final void shouldEndARangeWithItsBuffer() {
        Engine engine = engine();
        long before = engine.allocatedBytes();
        Tensor buffer = engine.allocate(engine.parameterType(), Shape.of(6));
        Tensor range = engine.range(buffer, 2, Shape.of(2));
        assertEquals(before + buffer.byteCount(), engine.allocatedBytes(), "a range is no allocation");
        range.close();
        engine.fill(range, 1);
        assertArrayEquals(new double[]{0, 0, 1, 1, 0, 0}, HostMemory.read(engine, buffer));
        buffer.close();
        assertThrows(IllegalStateException.class, () -> engine.fill(range, 1));
        range.close();
        assertEquals(before, engine.allocatedBytes());
    }

    @Test
    final void shouldRefuseARangeOutsideItsBuffer() {
        Engine engine = engine();
        try (Tensor buffer = engine.allocate(engine.parameterType(), Shape.of(6))) {
            assertThrows(IllegalArgumentException.class, () -> engine.range(buffer, -1, Shape.of(2)));
            assertThrows(IllegalArgumentException.class, () -> engine.range(buffer, 5, Shape.of(2)));
            assertThrows(IllegalArgumentException.class, () -> engine.range(buffer, Long.MAX_VALUE, Shape.of(1)));
            Tensor range = engine.range(buffer, 1, Shape.of(2));
            assertThrows(IllegalArgumentException.class, () -> engine.range(range, 1, Shape.of(2)));
        }
    }

    @Test
    final void shouldUpdateABufferToTheBitsOfItsRanges() {
        Engine engine = engine();
        int parts = 7;
        AdamW update = new AdamW(1e-2, 0.9, 0.95, 1e-8, 0.1, 3, 0.3);
        double[][] apart = new double[4][];
        double[][] together = new double[4][];
        for (boolean whole : new boolean[]{false, true}) {
            Tensor[] buffers = new Tensor[4];
            for (int i = 0; i < buffers.length; i++) {
                buffers[i] = engine.allocate(engine.parameterType(), Shape.of(parts * ALIGNMENT));
                HostMemory.write(engine, buffers[i],
                        new Random(i).doubles(parts * ALIGNMENT).map(x -> (float) x).toArray());
            }
            for (int part = 0; part < (whole ? 1 : parts); part++) {
                Shape shape = Shape.of(whole ? parts * ALIGNMENT : ALIGNMENT);
                long first = (long) part * ALIGNMENT;
                engine.adamW(engine.range(buffers[0], first, shape), engine.range(buffers[1], first, shape),
                        engine.range(buffers[2], first, shape), engine.range(buffers[3], first, shape), update);
            }
            for (int i = 0; i < buffers.length; i++) {
                (whole ? together : apart)[i] = HostMemory.read(engine, buffers[i]);
                buffers[i].close();
            }
        }
        assertArrayEquals(apart, together);
    }
}
