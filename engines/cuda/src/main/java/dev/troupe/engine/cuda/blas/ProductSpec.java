package dev.troupe.engine.cuda.blas;

import dev.troupe.engine.DataType;

/**
 * The properties of a product by which a library chooses an algorithm: {@code product [m x n] = op(left) op(right) + bias},
 * row-major.
 *
 * @param transposeLeft whether the left side is stored as [k x m] and not as [m x k]
 * @param transposeRight whether the right side is stored as [n x k] and not as [k x n]
 * @param operands the type of both sides: FLOAT32 or BFLOAT16
 * @param product the type of the product, likewise
 * @param hasBias whether a bias [n] of FLOAT32 is added to each row
 */
public record ProductSpec(int m, int n, int k, boolean transposeLeft, boolean transposeRight, DataType operands,
        DataType product, boolean hasBias) {
}
