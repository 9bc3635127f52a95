package dev.troupe.engine.check;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.List;
import java.util.Locale;

/**
 * The checks of one method's operands before anything is written: each belongs to the engine, is open, and has the right
 * type and shape. An error names the method and the operand, and what was expected and found. Engines do not check again, so
 * only these checks protect memory outside a tensor. A check that passes allocates nothing.
 */
final class Operands {
    private final CheckedMemory engine;
    private final String method;

    Operands(CheckedMemory engine, String method) {
        this.engine = engine;
        this.method = method;
    }

    CheckedTensor any(String name, Tensor tensor) {
        if (!(tensor instanceof CheckedTensor own) || own.owner() != engine) {
            throw new IllegalArgumentException(
                    String.format(Locale.ROOT, "%s: %s must be a tensor of this engine, but is %s", method,
                            name, tensor == null ? "null" : "another's"));
        }
        if (own.isClosed() || engine.isClosed()) {
            throw new IllegalStateException(
                    String.format(Locale.ROOT, "%s: %s, %s %s, is used after it was closed", method, name,
                            own.dataType(), own.shape()));
        }
        return own;
    }

    CheckedTensor floats(String name, Tensor tensor) {
        return ofType(name, tensor, engine.parameterType());
    }

    CheckedTensor products(String name, Tensor tensor) {
        return ofType(name, tensor, engine.computeType());
    }

    CheckedTensor either(String name, Tensor tensor) {
        CheckedTensor own = any(name, tensor);
        if (own.dataType() != engine.parameterType() && own.dataType() != engine.computeType()) {
            throw misfit(name, "must be of " + engine.parameterType()
                    + (engine.parameterType() == engine.computeType() ? "" : " or " + engine.computeType()), own);
        }
        return own;
    }

    CheckedTensor vector(String name, Tensor tensor) {
        CheckedTensor own = floats(name, tensor);
        if (own.shape().rank() != 1) {
            throw misfit(name, "must have one dimension", own);
        }
        return own;
    }

    CheckedTensor vector(String name, Tensor tensor, int size) {
        return ofSize(name, floats(name, tensor), size);
    }

    /** Floats in one dimension, with an element of this index. */
    CheckedTensor element(String name, Tensor tensor, int index) {
        CheckedTensor own = vector(name, tensor);
        if (index < 0 || index >= own.size(0)) {
            throw misfit(name, "must have an element " + index, own);
        }
        return own;
    }

    CheckedTensor ids(String name, Tensor tensor, int size) {
        return ofSize(name, ofType(name, tensor, DataType.INT32), size);
    }

    CheckedTensor ids(String name, Tensor tensor) {
        CheckedTensor own = ofType(name, tensor, DataType.INT32);
        if (own.shape().rank() != 1) {
            throw misfit(name, "must have one dimension", own);
        }
        return own;
    }

    /** INT32 numbers, a row for each row of an activation. */
    CheckedTensor choices(String name, Tensor tensor) {
        return ofTwoDimensions(name, ofType(name, tensor, DataType.INT32));
    }

    /** The same for {@code rows} rows with at most as many choices as experts. */
    CheckedTensor choices(String name, Tensor tensor, int rows, int experts) {
        CheckedTensor own = choices(name, tensor);
        if (own.size(0) != rows || own.size(1) > experts) {
            throw misfit(name, String.format(Locale.ROOT, "must be INT32 [%d x at most %d]", rows, experts), own);
        }
        return own;
    }

    /** The number of experts with these matrices. */
    int experts(List<Tensor> matrices) {
        if (matrices.isEmpty()) {
            throw new IllegalArgumentException(method + ": there must be a matrix of at least one expert");
        }
        return matrices.size();
    }

    CheckedTensor floatMatrix(String name, Tensor tensor) {
        return ofTwoDimensions(name, floats(name, tensor));
    }

    CheckedTensor floatMatrix(String name, Tensor tensor, int rows, int columns) {
        return ofSizes(name, floats(name, tensor), rows, columns);
    }

    /** FLOAT64 numbers in one dimension, with an element of this index, outside the tensor that is added up. */
    CheckedTensor sums(Tensor sums, int index, CheckedTensor tensor) {
        CheckedTensor own = ofType("sums", sums, DataType.FLOAT64);
        if (own.shape().rank() != 1 || index < 0 || index >= own.size(0)) {
            throw misfit("sums", "must have one dimension with an element " + index, own);
        }
        apart("sums", own, tensor);
        return own;
    }

    /** INT32 [M x 2] with a row of this index, outside the tensor of the digest. */
    CheckedTensor digests(Tensor digests, int index, CheckedTensor tensor) {
        CheckedTensor own = ofType("digests", digests, DataType.INT32);
        if (own.shape().rank() != 2 || own.size(1) != 2 || index < 0 || index >= own.size(0)) {
            throw misfit("digests", "must have rows of two numbers and one of index " + index, own);
        }
        apart("digests", own, tensor);
        return own;
    }

    CheckedTensor matrix(String name, Tensor tensor) {
        return ofTwoDimensions(name, products(name, tensor));
    }

    CheckedTensor matrix(String name, Tensor tensor, int rows, int columns) {
        return ofSizes(name, products(name, tensor), rows, columns);
    }

    /** The result of a product: a product matrix, or a float matrix, of exactly these sizes. */
    CheckedTensor product(Tensor tensor, boolean accumulate, int rows, int columns) {
        return ofSizes("product", accumulate ? floats("product", tensor) : either("product", tensor), rows, columns);
    }

    /** A float matrix with at least {@code leastRows} rows and exactly {@code columns} columns. */
    CheckedTensor table(String name, Tensor tensor, int leastRows, int columns) {
        CheckedTensor own = floats(name, tensor);
        if (own.shape().rank() != 2 || own.size(0) < leastRows || own.size(1) != columns) {
            throw misfit(name, String.format(Locale.ROOT, "must be [at least %d x %d]", leastRows, columns), own);
        }
        return own;
    }

    /** A product matrix with as many rows, or columns if transposed, as x has columns. */
    CheckedTensor weight(Tensor tensor, boolean transposed, CheckedTensor x) {
        CheckedTensor own = matrix("weight", tensor);
        if (own.size(transposed ? 1 : 0) != x.size(1)) {
            throw misfit("weight",
                    String.format(Locale.ROOT, "must have %d %s, the columns of x", x.size(1),
                            transposed ? "columns" : "rows"),
                    own);
        }
        return own;
    }

    /** A float tensor of one dimension, of a size that divides the columns of a matrix. */
    CheckedTensor gammaOfNeighbours(String name, Tensor tensor, CheckedTensor x) {
        CheckedTensor own = floats(name, tensor);
        if (own.shape().rank() != 1 || x.size(1) % own.size(0) != 0) {
            throw misfit(name,
                    String.format(Locale.ROOT, "must have a size that divides the %d columns of x", x.size(1)), own);
        }
        return own;
    }

    /** The keys of {@code keyValueHeads} heads, each shared by a group of the queries' heads. */
    CheckedTensor keys(String name, Tensor tensor, CheckedTensor queries, int heads, int keyValueHeads) {
        return matrix(name, tensor, queries.size(0), keyColumns(queries, heads, keyValueHeads));
    }

    /** The same for {@code length} places or more. */
    CheckedTensor cachedKeys(String name, Tensor tensor, int length, CheckedTensor query, int heads,
            int keyValueHeads) {
        int columns = keyColumns(query, heads, keyValueHeads);
        CheckedTensor own = products(name, tensor);
        if (length < query.size(0)) {
            throw new IllegalArgumentException(String.format(Locale.ROOT,
                    "%s: %d rows of queries need at least as many places, but the length is %d", method,
                    query.size(0), length));
        }
        if (own.shape().rank() != 2 || own.size(0) < length || own.size(1) != columns) {
            throw misfit(name, String.format(Locale.ROOT, "must be [at least %d x %d]", length, columns), own);
        }
        return own;
    }

    private int keyColumns(CheckedTensor queries, int heads, int keyValueHeads) {
        if (keyValueHeads < 1 || heads % keyValueHeads != 0) {
            throw new IllegalArgumentException(String.format(Locale.ROOT,
                    "%s: %d heads must be a multiple of the %d with keys and values", method, heads, keyValueHeads));
        }
        return queries.size(1) / heads * keyValueHeads;
    }

    /** A float matrix with a row for each place of a sequence, and half a head's columns. */
    CheckedTensor angles(String name, Tensor tensor, int sequenceLength, CheckedTensor x, int headSize) {
        CheckedTensor own = floats(name, tensor);
        if (own.shape().rank() != 2 || own.size(0) < sequenceLength || headSize < 2 * own.size(1)
                || x.size(1) % headSize != 0) {
            throw misfit(name,
                    String.format(Locale.ROOT,
                            "must be [at least %d x at most half of a head], with heads of %d that divide the %d columns of x",
                            sequenceLength, headSize, x.size(1)),
                    own);
        }
        return own;
    }

    CheckedTensor like(String name, Tensor tensor, CheckedTensor other) {
        return exactly(name, tensor, other.dataType(), other.shape());
    }

    CheckedTensor productsLike(String name, Tensor tensor, CheckedTensor other) {
        return exactly(name, tensor, engine.computeType(), other.shape());
    }

    CheckedTensor exactly(String name, Tensor tensor, DataType dataType, Shape shape) {
        CheckedTensor own = any(name, tensor);
        if (own.dataType() != dataType || !own.shape().equals(shape)) {
            throw misfit(name, "must be " + dataType + " " + shape, own);
        }
        return own;
    }

    CheckedTensor ofShape(String name, Tensor tensor, CheckedTensor other) {
        CheckedTensor own = either(name, tensor);
        if (!own.shape().equals(other.shape())) {
            throw misfit(name, "must be " + other.shape(), own);
        }
        return own;
    }

    /** A tensor that has these bytes, which are whole elements. */
    CheckedTensor bytes(String name, Tensor tensor, long byteOffset, long bytes) {
        CheckedTensor own = any(name, tensor);
        if (byteOffset < 0 || bytes > own.byteCount() - byteOffset) {
            throw new IllegalArgumentException(
                    String.format(Locale.ROOT, "%s: %d bytes from byte %d do not lie in a tensor of %d bytes (%s %s)",
                            method, bytes, byteOffset, own.byteCount(), own.dataType(), own.shape()));
        }
        int elementBytes = own.dataType().elementBytes();
        if (byteOffset % elementBytes != 0 || bytes % elementBytes != 0) {
            throw new IllegalArgumentException(
                    String.format(Locale.ROOT,
                            "%s: %d bytes from byte %d cut an element; both must be multiples of the %d bytes of %s",
                            method, bytes, byteOffset, elementBytes, own.dataType()));
        }
        return own;
    }

    /** A tensor that holds a range of this shape from an element on. */
    CheckedTensor holding(String name, Tensor tensor, long first, Shape shape) {
        CheckedTensor own = any(name, tensor);
        if (first < 0 || shape.elementCount() > own.shape().elementCount() - first) {
            throw new IllegalArgumentException(String.format(Locale.ROOT,
                    "%s: %s from element %d on does not lie in a buffer of %s", method, shape, first, own.shape()));
        }
        return own;
    }

    /** Refuses an output that shares memory with another operand. */
    void apart(String name, CheckedTensor output, CheckedTensor other) {
        if (output.overlaps(other)) {
            throw new IllegalArgumentException(
                    String.format(Locale.ROOT, "%s: %s is written and must be a tensor of its own, but is given twice",
                            method, name));
        }
    }

    void apart(String name, CheckedTensor output, CheckedTensor one, CheckedTensor two) {
        apart(name, output, one);
        apart(name, output, two);
    }

    void apart(String name, CheckedTensor output, CheckedTensor one, CheckedTensor two, CheckedTensor three) {
        apart(name, output, one, two);
        apart(name, output, three);
    }

    /** The number of whole sequences in the rows of a matrix. */
    int sequences(CheckedTensor matrix, int sequenceLength) {
        int rows = matrix.size(0);
        if (sequenceLength < 1 || rows % sequenceLength != 0) {
            throw new IllegalArgumentException(
                    String.format(Locale.ROOT, "%s: %d rows are not whole sequences of length %d", method,
                            rows, sequenceLength));
        }
        return rows / sequenceLength;
    }

    /** The state of attention for these rows, of whole sequences and heads. */
    CheckedTensor attentionState(Tensor state, CheckedTensor rows, int sequenceLength, int heads) {
        int sequences = sequences(rows, sequenceLength);
        requireHeads(rows, heads);
        return exactly("state", state, engine.parameterType(),
                engine.attentionStateShape(sequences, sequenceLength, heads));
    }

    /** Refuses a matrix with columns that do not divide into {@code heads} heads. */
    void requireHeads(CheckedTensor matrix, int heads) {
        if (heads < 1 || matrix.size(1) % heads != 0) {
            throw misfit("the hidden size", "must be a multiple of " + heads + " heads", matrix);
        }
    }

    IllegalArgumentException misfit(String name, String need, CheckedTensor found) {
        return new IllegalArgumentException(
                String.format(Locale.ROOT, "%s: %s %s, but is %s %s", method, name, need, found.dataType(),
                        found.shape()));
    }

    CheckedTensor ofType(String name, Tensor tensor, DataType dataType) {
        CheckedTensor own = any(name, tensor);
        if (own.dataType() != dataType) {
            throw misfit(name, "must be of " + dataType, own);
        }
        return own;
    }

    private CheckedTensor ofSize(String name, CheckedTensor own, int size) {
        if (own.shape().rank() != 1 || own.size(0) != size) {
            throw misfit(name, String.format(Locale.ROOT, "must be %s [%d]", own.dataType(), size), own);
        }
        return own;
    }

    private CheckedTensor ofTwoDimensions(String name, CheckedTensor own) {
        if (own.shape().rank() != 2) {
            throw misfit(name, "must have two dimensions", own);
        }
        return own;
    }

    private CheckedTensor ofSizes(String name, CheckedTensor own, int rows, int columns) {
        if (own.shape().rank() != 2 || own.size(0) != rows || own.size(1) != columns) {
            throw misfit(name, String.format(Locale.ROOT, "must be %s [%d x %d]", own.dataType(), rows, columns), own);
        }
        return own;
    }
}
