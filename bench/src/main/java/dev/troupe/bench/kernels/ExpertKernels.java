package dev.troupe.bench.kernels;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;

/** The kernels of a mixture of experts: top 2 of 8. Sizes and thread rule as of {@link Workbench}. */
public class ExpertKernels extends Workbench {
    private static final int E = 8;
    private static final int K = 2;
    private static final int R = N * K;
    /** Inner width of an expert. */
    private static final int I = 2 * C;
    private static final double SORTED = (double) R * C;
    private static final double INNER = (double) R * I;
    private static final String CHOICES = String.format(Locale.ROOT, "%d of %d for each of %d rows", K, E, N);
    private static final String SIZES = String.format(Locale.ROOT, "[%d x %d] to [%d x %d]", N, C, R, C);
    private static final String PRODUCTS = String.format(Locale.ROOT, "[%d x %d] by %d of [%d x %d]", R, C, E, C, I);

    static final List<KernelWork> WORK = List.of(
            KernelWork.memory(ExpertKernels.class, "route", CHOICES, 2.0 * N * E + 2 * R),
            KernelWork.memory(ExpertKernels.class, "routeBackward", CHOICES, 2.0 * N * E + 2 * R),
            KernelWork.memory(ExpertKernels.class, "routingTables", CHOICES, 3.0 * R),
            KernelWork.memory(ExpertKernels.class, "addLoads", CHOICES, (double) N * E + R),
            KernelWork.memory(ExpertKernels.class, "gatherRows", SIZES, (double) N * C + SORTED),
            KernelWork.memory(ExpertKernels.class, "combineRows", SIZES + ", back", (double) N * C + SORTED),
            KernelWork.memory(ExpertKernels.class, "combineRowsBackward", "[" + R + " x " + I + "]", 4 * INNER),
            KernelWork.products(ExpertKernels.class, "segmentMatmul", PRODUCTS, 2 * SORTED * I),
            KernelWork.products(ExpertKernels.class, "segmentMatmulBackward", PRODUCTS, 2 * SORTED * I));

    private Tensor logits;
    private Tensor scores;
    private Tensor chosen;
    private Tensor weights;
    private Tensor dWeights;
    private Tensor loads;
    private Tensor segments;
    private Tensor rows;
    private Tensor places;
    private Tensor x;
    private Tensor sorted;
    private Tensor inner;
    private Tensor dInner;
    private List<Tensor> matrices;
    private List<Tensor> gradients;

    @Override
    void layOut() {
        logits = floats(N, E);
        scores = floats(N, E);
        chosen = integers(N, K);
        weights = floats(N, K);
        dWeights = floats(N, K);
        loads = floats(2 * E);
        segments = integers(E + 1);
        rows = integers(R);
        places = integers(N, K);
        x = floats(N, C);
        sorted = floats(R, C);
        inner = floats(R, I);
        dInner = floats(R, I);
        matrices = IntStream.range(0, E).mapToObj(_ -> floats(I, C)).toList();
        gradients = IntStream.range(0, E).mapToObj(_ -> floats(I, C)).toList();
        // All other kernels read the choice.
        route();
        routingTables();
    }

    private Tensor integers(int... sizes) {
        return engine().allocate(DataType.INT32, Shape.of(sizes));
    }

    /** The choice and its weights. */
    @Benchmark
    public void route() {
        engine().route(logits, true, scores, chosen, weights);
    }

    /** The gradient of the logits. */
    @Benchmark
    public void routeBackward() {
        engine().routeBackward(scores, chosen, true, dWeights, null, logits);
    }

    /** The choices sorted by expert. */
    @Benchmark
    public void routingTables() {
        engine().routingTables(chosen, segments, rows, places);
    }

    /** The load of each expert. */
    @Benchmark
    public void addLoads() {
        engine().addLoads(scores, chosen, loads);
    }

    /** Rows sorted by expert. */
    @Benchmark
    public void gatherRows() {
        engine().gatherRows(x, rows, sorted);
    }

    /** The weighted sum of the choices of each row. */
    @Benchmark
    public void combineRows() {
        engine().combineRows(sorted, places, weights, x);
    }

    /** The gradient of the weights. Numbers become smaller with each call, and stay finite. */
    @Benchmark
    public void combineRowsBackward() {
        engine().combineRowsBackward(weights, places, inner, dInner, dWeights);
    }

    /** The products of all experts. */
    @Benchmark
    public void segmentMatmul() {
        engine().segmentMatmul(sorted, segments, matrices, true, inner);
    }

    /** The gradients of their matrices. */
    @Benchmark
    public void segmentMatmulBackward() {
        engine().segmentMatmulBackward(dInner, sorted, segments, gradients);
    }
}
