package dev.troupe.store.lbfgs;

/** An operation of the coordinator, which every shard does on its part of some vectors. Vectors have numbers from 0 on. */
public sealed interface VectorOperation {
    /** Answers the sum of the products of both vectors, for each portion. */
    record Dot(int left, int right) implements VectorOperation {
    }

    /** Answers the sum of absolute values, for each portion. */
    record AbsoluteSum(int vector) implements VectorOperation {
    }

    /** Answers the largest absolute value, for each portion. */
    record Largest(int vector) implements VectorOperation {
    }

    /** {@code vector *= factor}. */
    record Scale(int vector, double factor) implements VectorOperation {
    }

    /** {@code target += factor source}. */
    record Axpy(double factor, int source, int target) implements VectorOperation {
    }

    /** {@code target = source}. */
    record Copy(int source, int target) implements VectorOperation {
    }
}
