package dev.troupe.bench.profile;

import dev.troupe.engine.Tensor;

/** Counts the operations of a matrix product: two for each product of two numbers. */
final class MatrixOperations {
    private MatrixOperations() {
    }

    /** Returns the operations of one call of a kernel, by its name and arguments; 0 where it is no matrix product. */
    static long of(String kernel, Object[] arguments) {
        return switch (kernel) {
            case "matmul" -> {
                Tensor left = (Tensor) arguments[0];
                boolean transposed = (boolean) arguments[1];
                Tensor product = (Tensor) arguments[4];
                yield 2 * product.shape().elementCount() * left.shape().size(transposed ? 0 : 1);
            }
            case "linear", "linearGelu" -> {
                Tensor x = (Tensor) arguments[0];
                Tensor weight = (Tensor) arguments[1];
                yield 2 * x.shape().size(0) * weight.shape().elementCount();
            }
            default -> 0;
        };
    }
}
