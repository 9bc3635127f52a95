package dev.troupe.bench.kernels;

import static dev.troupe.bench.kernels.Workbench.C;
import static dev.troupe.bench.kernels.Workbench.N;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.router.Router;
import dev.troupe.engine.router.SoftmaxRouter;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/** The kernels of a mixture of experts: top 2 of 8. */
final class ExpertKernels {
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

    private ExpertKernels() {
    }

    static KernelFamily family() {
        String name = "ExpertKernels";
        return new KernelFamily(name, List.of(KernelWork.memory(name, "route", CHOICES, 2.0 * N * E + 2 * R),
                KernelWork.memory(name, "routeBackward", CHOICES, 2.0 * N * E + 2 * R),
                KernelWork.memory(name, "routingTables", CHOICES, 3.0 * R),
                KernelWork.memory(name, "addLoads", CHOICES, (double) N * E + R),
                KernelWork.memory(name, "placeChoices", CHOICES, 3.0 * R),
                KernelWork.memory(name, "routerZLoss", CHOICES, (double) N * E),
                KernelWork.memory(name, "routerZLossBackward", CHOICES, 3.0 * N * E),
                KernelWork.memory(name, "gatherRows", SIZES, (double) N * C + SORTED),
                KernelWork.memory(name, "combineRows", SIZES + ", back", (double) N * C + SORTED),
                KernelWork.memory(name, "combineRowsBackward", "[" + R + " x " + I + "]", 4 * INNER),
                KernelWork.products(name, "segmentMatmul", PRODUCTS, 2 * SORTED * I),
                KernelWork.products(name, "segmentMatmulBackward", PRODUCTS, 2 * SORTED * I)), (on, calls) -> {
                    Engine engine = on.engine();
                    Router router = new SoftmaxRouter(true);
                    Tensor logits = on.floats(N, E);
                    Tensor scores = on.floats(N, E);
                    Tensor chosen = engine.allocate(DataType.INT32, Shape.of(N, K));
                    Tensor weights = on.floats(N, K);
                    Tensor dWeights = on.floats(N, K);
                    Tensor loads = on.floats(2 * E);
                    Tensor allLoads = on.floats(2 * E + 2);
                    Tensor segments = engine.allocate(DataType.INT32, Shape.of(E + 1));
                    Tensor rows = engine.allocate(DataType.INT32, Shape.of(R));
                    Tensor places = engine.allocate(DataType.INT32, Shape.of(N, K));
                    Tensor positions = engine.allocate(DataType.INT32, Shape.of(N, K));
                    Tensor x = on.floats(N, C);
                    Tensor sorted = on.floats(R, C);
                    Tensor inner = on.floats(R, I);
                    Tensor dInner = on.floats(R, I);
                    List<Tensor> matrices = IntStream.range(0, E).mapToObj(_ -> on.floats(I, C)).toList();
                    List<Tensor> gradients = IntStream.range(0, E).mapToObj(_ -> on.floats(I, C)).toList();
                    calls.put("route", () -> engine.route(router, logits, null, scores, chosen, weights));
                    calls.put("routeBackward",
                            () -> engine.routeBackward(router, scores, chosen, dWeights, null, logits));
                    calls.put("routingTables", () -> engine.routingTables(chosen, null, segments, rows, places));
                    calls.put("placeChoices",
                            () -> engine.placeChoices(null, N * K / E, chosen, weights, positions, loads, 0));
                    calls.put("routerZLoss", () -> engine.routerZLoss(scores, allLoads));
                    calls.put("routerZLossBackward", () -> engine.routerZLossBackward(scores, 1, logits));
                    calls.put("addLoads", () -> engine.addLoads(scores, chosen, loads));
                    calls.put("gatherRows", () -> engine.gatherRows(x, rows, sorted));
                    calls.put("combineRows", () -> engine.combineRows(sorted, places, weights, x));
                    // Numbers become smaller with each call, and stay finite.
                    calls.put("combineRowsBackward",
                            () -> engine.combineRowsBackward(weights, places, inner, dInner, dWeights));
                    calls.put("segmentMatmul", () -> engine.segmentMatmul(sorted, segments, matrices, true, inner));
                    calls.put("segmentMatmulBackward",
                            () -> engine.segmentMatmulBackward(dInner, sorted, segments, gradients));
                    calls.get("route").run(); // all other kernels read the choice
                    calls.get("routingTables").run();
                });
    }
}
