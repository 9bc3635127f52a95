package dev.troupe.engine.structural;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Tensor;

/** The memory that a kernel takes beside its operands, as far as their shapes say. */
public sealed interface Cost {
    /** Of a kernel without a matrix product: no memory that a plan must know. */
    Cost NO_PRODUCT = new NoProduct();

    /** See {@link #NO_PRODUCT}. */
    record NoProduct() implements Cost {
    }

    /**
     * Of a product [m x k] [k x n], which may take scratch memory, and keep something beside its right side.
     *
     * @param right [k x n], or [n x k] where it is transposed
     * @param type of what the product goes to
     */
    record Product(long m, long k, long n, Tensor right, boolean transposeRight, DataType type) implements Cost {
        /** Of {@code product = left right}, where the right side may be transposed. */
        static Product of(Tensor right, boolean transposeRight, Tensor product) {
            return new Product(product.shape().size(0), right.shape().size(transposeRight ? 1 : 0),
                    product.shape().size(1), right, transposeRight, product.dataType());
        }
    }
}
