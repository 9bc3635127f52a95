package dev.troupe.engine.nd4j;

import dev.troupe.engine.nd4j.Scratch.Slot;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.nd4j.linalg.api.ndarray.INDArray;

/** Rotations of heads by the angles of their places in a document (Su et al. 2021), head by head. */
final class Rotary {
    private final Operations operations;
    private final Scratch scratch;

    Rotary(Operations operations, Scratch scratch) {
        this.operations = operations;
        this.scratch = scratch;
    }

    /**
     * x and y [N x columns], starts [N] or null, cosines and sines [at least t x half]; y may be x, and must be if half is
     * less than half of a head.
     */
    void turn(Nd4jTensor x, Nd4jTensor starts, int t, Nd4jTensor cosines, Nd4jTensor sines, int headSize,
            boolean back, Nd4jTensor y) {
        int n = x.size(0);
        int columns = x.size(1);
        int half = cosines.size(1);
        INDArray places = places(starts, n, t);
        INDArray cos = slot(Slot.FIRST, n, half);
        INDArray sin = slot(Slot.SECOND, n, half);
        operations.gather(cosines.matrix(), places, cos);
        operations.gather(sines.matrix(), places, sin);
        if (back) {
            operations.scale(-1, scratch.slot(Slot.SECOND, (long) n * half).vector((long) n * half));
        }
        INDArray firstCos = slot(Slot.THIRD, n, half);
        INDArray secondSin = slot(Slot.FOURTH, n, half);
        INDArray secondCos = slot(Slot.FIFTH, n, half);
        INDArray firstSin = slot(Slot.SIXTH, n, half);
        for (int head = 0; head < columns; head += headSize) {
            INDArray first = x.views().view(head, n, half, columns, 1);
            INDArray second = x.views().view(head + half, n, half, columns, 1);
            operations.multiply(first, cos, firstCos);
            operations.multiply(second, sin, secondSin);
            operations.multiply(second, cos, secondCos);
            operations.multiply(first, sin, firstSin);
            operations.subtract(firstCos, secondSin, y.views().view(head, n, half, columns, 1));
            operations.add(secondCos, firstSin, y.views().view(head + half, n, half, columns, 1));
        }
    }

    private INDArray slot(Slot slot, int rows, int columns) {
        return scratch.slot(slot, (long) rows * columns).matrix(rows, columns);
    }

    /** INT32 [N]: each row's place in its document. */
    private INDArray places(Nd4jTensor starts, int n, int t) {
        ArrayViews places = scratch.slot(Slot.INDICES, n);
        MemorySegment begins = starts == null ? null : Nd4jMemory.hostBytes(starts);
        for (int row = 0; row < n; row++) {
            int start = begins == null ? 0 : begins.getAtIndex(ValueLayout.JAVA_INT, row);
            places.flat().data().put(row, row % t - start);
        }
        return places.vector(n);
    }
}
