package dev.troupe.engine.nd4j;

import java.util.HashMap;
import java.util.Map;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * One buffer and the arrays that look at it. To make an array costs about as much as a small operation (4 microseconds),
 * so each is made once and kept.
 *
 * <p>Thread rule: one thread at a time.
 */
final class ArrayViews {
    private final INDArray elements;
    private final Map<Key, INDArray> views = new HashMap<>();

    private record Key(long offset, long rows, long columns, long rowStride, long columnStride) {
    }

    /** Looks at the buffer of a vector that holds all elements. */
    ArrayViews(INDArray elements) {
        this.elements = elements;
    }

    /** All elements as a vector. */
    INDArray flat() {
        return elements;
    }

    /** The first elements as a vector. */
    INDArray vector(long length) {
        return length == elements.length() ? elements : view(0, length, 0, 1, 0);
    }

    /** The first elements as a row-major matrix. */
    INDArray matrix(long rows, long columns) {
        return view(0, rows, columns, columns, 1);
    }

    /** Row-major rows x columns elements from an offset. */
    INDArray matrix(long offset, long rows, long columns) {
        return view(offset, rows, columns, columns, 1);
    }

    /** The transpose of {@link #matrix(long, long)}: column-major, which is what BLAS writes without a copy. */
    INDArray transposed(long rows, long columns) {
        return view(0, columns, rows, 1, columns);
    }

    /** Any matrix; rows and columns of the view, and how many elements lie between two neighbours of each. */
    INDArray view(long offset, long rows, long columns, long rowStride, long columnStride) {
        Key key = new Key(offset, rows, columns, rowStride, columnStride);
        INDArray known = views.get(key);
        if (known == null) {
            known = create(key);
            views.put(key, known);
        }
        return known;
    }

    private INDArray create(Key key) {
        if (key.columns == 0) {
            return Nd4j.create(elements.data(), new long[]{key.rows}, new long[]{key.rowStride}, key.offset, 'c');
        }
        char order = key.rowStride == 1 && key.columnStride != 1 ? 'f' : 'c';
        return Nd4j.create(elements.data(), new long[]{key.rows, key.columns},
                new long[]{key.rowStride, key.columnStride}, key.offset, order);
    }

    /** Gives the buffer back at once. */
    void close() {
        views.clear();
        elements.close();
    }
}
