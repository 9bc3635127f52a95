package dev.troupe.engine.cuda.blas;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.cuda.ptx.InterpretedDevice;
import java.lang.foreign.MemorySegment;

/**
 * A column-major matrix in the memory of an interpreted device.
 *
 * @param device the owner of the memory
 * @param address of its first element
 */
record Matrix(InterpretedDevice device, long address, Layout layout) {
    private static final int REAL_32F = 0;

    /**
     * The layout of a matrix.
     *
     * @param leading elements between neighbours of a row
     */
    record Layout(int type, long rows, long columns, long leading) {
        private long at(int row, int column) {
            return column * leading + row;
        }

        private long elementBytes() {
            return type == REAL_32F ? 4 : 2;
        }
    }

    private MemorySegment bytes() {
        return device.memory(address,
                (layout.at(0, (int) layout.columns - 1) + layout.rows) * layout.elementBytes());
    }

    private double number(MemorySegment bytes, int row, int column) {
        long at = layout.at(row, column) * layout.elementBytes();
        return layout.type == REAL_32F
                ? bytes.get(JAVA_FLOAT_UNALIGNED, at)
                : Bfloat16.toFloat(bytes.get(JAVA_SHORT_UNALIGNED, at));
    }

    /** Its elements by row and column, or its transpose's. */
    double[][] numbers(boolean transposed) {
        MemorySegment bytes = bytes();
        int rows = (int) (transposed ? layout.columns : layout.rows);
        int columns = (int) (transposed ? layout.rows : layout.columns);
        double[][] numbers = new double[rows][columns];
        for (int row = 0; row < rows; row++) {
            for (int column = 0; column < columns; column++) {
                numbers[row][column] = transposed ? number(bytes, column, row) : number(bytes, row, column);
            }
        }
        return numbers;
    }

    /**
     * Takes {@code alpha a b + beta added + bias}, rounded once.
     *
     * @param added may be this; null where beta is 0
     * @param biases a number for each row; null for none
     */
    void take(float alpha, double[][] a, double[][] b, float beta, Matrix added, MemorySegment biases) {
        double[][] before = added == null ? null : added.numbers(false);
        MemorySegment bytes = bytes();
        for (int row = 0; row < layout.rows; row++) {
            for (int column = 0; column < layout.columns; column++) {
                double sum = 0;
                for (int i = 0; i < b.length; i++) {
                    sum += a[row][i] * b[i][column];
                }
                float value = (float) (alpha * sum + (before == null ? 0 : beta * before[row][column])
                        + (biases == null ? 0 : biases.get(JAVA_FLOAT_UNALIGNED, 4L * row)));
                long at = layout.at(row, column) * layout.elementBytes();
                if (layout.type == REAL_32F) {
                    bytes.set(JAVA_FLOAT_UNALIGNED, at, value);
                } else {
                    bytes.set(JAVA_SHORT_UNALIGNED, at, Bfloat16.of(value));
                }
            }
        }
    }
}
