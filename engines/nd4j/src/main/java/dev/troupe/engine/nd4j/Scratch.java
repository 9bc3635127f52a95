package dev.troupe.engine.nd4j;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * Scratch memory of the kernels of one engine. A slot grows to the largest requested size and keeps it, so that a step
 * allocates nothing after its first run. A kernel uses each slot for one purpose at a time, and no content outlives a
 * kernel.
 *
 * <p>Thread rule: the rule of kernels.
 */
final class Scratch {
    /** The slots: six for whole activations, three for a number for each row, one for row indices. */
    enum Slot {
        FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH, ROWS, MORE_ROWS, OTHER_ROWS, INDICES
    }

    private final DataType parameterType;
    private final Map<Slot, ArrayViews> slots = new EnumMap<>(Slot.class);
    private final Map<Double, INDArray> scalars = new HashMap<>();
    private ArrayViews ones;
    private ArrayViews rowStarts;
    private int rowStartsStride;

    Scratch(DataType parameterType) {
        this.parameterType = parameterType;
    }

    /** A slot of at least {@code elementCount} elements with arbitrary contents. */
    ArrayViews slot(Slot slot, long elementCount) {
        ArrayViews views = slots.get(slot);
        if (views == null || views.flat().length() < elementCount) {
            if (views != null) {
                views.close();
            }
            views = new ArrayViews(Nd4j.create(slot == Slot.INDICES ? DataType.INT32 : parameterType, elementCount));
            slots.put(slot, views);
        }
        return views;
    }

    /** A vector of ones, of at least this length. */
    ArrayViews ones(long length) {
        if (ones == null || ones.flat().length() < length) {
            if (ones != null) {
                ones.close();
            }
            ones = new ArrayViews(Nd4j.ones(parameterType, length));
        }
        return ones;
    }

    /** A kept scalar; only for constants, since it is freed with the engine. */
    INDArray scalar(double value) {
        return scalars.computeIfAbsent(value, constant -> Nd4j.scalar(parameterType, constant));
    }

    /** INT32 [rows]: the index of the first element of each row of a matrix. */
    INDArray rowStarts(int rows, int columns) {
        if (rowStarts == null || rowStartsStride != columns || rowStarts.flat().length() < rows) {
            int[] starts = new int[rows];
            for (int row = 0; row < rows; row++) {
                starts[row] = Math.multiplyExact(row, columns);
            }
            if (rowStarts != null) {
                rowStarts.close();
            }
            rowStarts = new ArrayViews(Nd4j.createFromArray(starts));
            rowStartsStride = columns;
        }
        return rowStarts.vector(rows);
    }

    void close() {
        slots.values().forEach(ArrayViews::close);
        slots.clear();
        scalars.values().forEach(INDArray::close);
        scalars.clear();
        for (ArrayViews views : new ArrayViews[]{ones, rowStarts}) {
            if (views != null) {
                views.close();
            }
        }
        ones = null;
        rowStarts = null;
    }
}
