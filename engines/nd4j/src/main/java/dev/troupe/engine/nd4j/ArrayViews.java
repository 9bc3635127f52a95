package dev.troupe.engine.nd4j;

import java.util.HashMap;
import java.util.Map;
import org.nd4j.linalg.api.buffer.DataBuffer;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;

/**
 * A buffer and the arrays over it. Creating an array takes the time of a small operation (4 microseconds), so each array is
 * created once.
 *
 * <p>Thread rule: one thread at a time.
 */
final class ArrayViews {
    private final DataBuffer buffer;
    private final long start;
    private final INDArray elements;
    private final Map<Key, INDArray> views = new HashMap<>();

    private record Key(long offset, long rows, long columns, long rowStride, long columnStride) {
    }

    ArrayViews(INDArray elements) {
        this(elements.data(), 0, elements);
    }

    private ArrayViews(DataBuffer buffer, long start, INDArray elements) {
        this.buffer = buffer;
        this.start = start;
        this.elements = elements;
    }

    /** Views of some of the elements; not to be used after the others are closed. */
    ArrayViews range(long first, long length) {
        // From the buffer itself, since ND4J counts the offset of a view of a view from the first view.
        INDArray part = Nd4j.create(buffer, new long[]{length}, new long[]{1}, start + first, 'c');
        return new ArrayViews(buffer, start + first, part);
    }

    INDArray flat() {
        return elements;
    }

    INDArray vector(long length) {
        return length == elements.length() ? elements : view(0, length, 0, 1, 0);
    }

    INDArray matrix(long rows, long columns) {
        return view(0, rows, columns, columns, 1);
    }

    /** Row-major rows x columns elements from an offset. */
    INDArray matrix(long offset, long rows, long columns) {
        return view(offset, rows, columns, columns, 1);
    }

    /** The transpose of {@link #matrix(long, long)}: column-major, so that BLAS writes without a copy. */
    INDArray transposed(long rows, long columns) {
        return view(0, columns, rows, 1, columns);
    }

    /** Any matrix: rows and columns of the view, and the distance between neighbours in each, in elements. */
    INDArray view(long offset, long rows, long columns, long rowStride, long columnStride) {
        Key key = new Key(offset, rows, columns, rowStride, columnStride);
        INDArray known = views.get(key);
        if (known == null) {
            known = create(key);
            views.put(key, known);
        }
        return known;
    }

    /** As {@link #view}, but not kept: for a view that differs in every call. */
    INDArray passing(long offset, long rows, long columns, long rowStride, long columnStride) {
        return create(new Key(offset, rows, columns, rowStride, columnStride));
    }

    private INDArray create(Key key) {
        if (key.columns == 0) {
            return Nd4j.create(buffer, new long[]{key.rows}, new long[]{key.rowStride}, start + key.offset, 'c');
        }
        char order = key.rowStride == 1 && key.columnStride != 1 ? 'f' : 'c';
        return Nd4j.create(buffer, new long[]{key.rows, key.columns},
                new long[]{key.rowStride, key.columnStride}, start + key.offset, order);
    }

    void close() {
        views.clear();
        elements.close();
    }
}
