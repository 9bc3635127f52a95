package dev.troupe.bench.kernels;

import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import org.openjdk.jmh.annotations.Benchmark;

/**
 * The limits of one core: a product so large that arithmetic takes all its time, and copies of the outputs of a narrow and a
 * wide layer for one microbatch, of which the smaller fits a cache. Sizes and thread rule as of {@link Workbench}.
 */
public class CoreLimits extends Workbench {
    private static final int SIDE = 2048;

    /** Operations of {@link #product}. */
    public static final double PRODUCT_OPERATIONS = 2.0 * SIDE * SIDE * SIDE;
    /** Bytes that {@link #copyNarrow} reads and writes. */
    public static final double NARROW_BYTES = 2.0 * N * C * Float.BYTES;
    /** Bytes that {@link #copyWide} reads and writes. */
    public static final double WIDE_BYTES = 4 * NARROW_BYTES;

    private Tensor left;
    private Tensor right;
    private Tensor product;
    private Tensor narrow;
    private Tensor narrowCopy;
    private Tensor wide;
    private Tensor wideCopy;

    @Override
    void layOut() {
        left = floats(SIDE, SIDE);
        right = floats(SIDE, SIDE);
        product = zeros(Shape.of(SIDE, SIDE));
        narrow = floats(N, C);
        narrowCopy = floats(N, C);
        wide = floats(N, 4 * C);
        wideCopy = floats(N, 4 * C);
    }

    /** One large square product. */
    @Benchmark
    public void product() {
        engine().matmul(left, false, right, false, product, false);
    }

    /** The residual stream. */
    @Benchmark
    public void copyNarrow() {
        engine().copy(narrow, narrowCopy);
    }

    /** The inner activation. */
    @Benchmark
    public void copyWide() {
        engine().copy(wide, wideCopy);
    }
}
