package dev.troupe.engine.structural;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Tensor;

/** The memory of a kernel in addition to its operands, derived from shapes. */
public sealed interface Cost {
    /** The cost of a kernel without a matrix product: no additional memory. */
    Cost NO_PRODUCT = new NoProduct();

    record NoProduct() implements Cost {
    }

    /**
     * The cost of a product [m x k] [k x n], which may take scratch memory and keep a packed copy of its right side.
     *
     * @param right [k x n], or [n x k] if transposed
     */
    record Product(long m, long k, long n, Tensor right, boolean transposeRight, DataType type) implements Cost {
        /** The cost of {@code product = left right}. */
        static Product of(Tensor right, boolean transposeRight, Tensor product) {
            return new Product(product.shape().size(0), right.shape().size(transposeRight ? 1 : 0),
                    product.shape().size(1), right, transposeRight, product.dataType());
        }
    }
}
