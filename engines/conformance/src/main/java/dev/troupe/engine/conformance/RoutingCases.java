package dev.troupe.engine.conformance;

import dev.troupe.engine.Tensor;
import dev.troupe.engine.router.Router;
import dev.troupe.engine.router.RowDraws;
import dev.troupe.engine.router.SoftmaxRouter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * The conformance cases of experts. Letters: N rows, E experts, k choices of a row, R = N k, C, K and M any size. The last
 * expert but one is chosen by no row if there are more experts than choices.
 */
final class RoutingCases {
    private static final int[][] SIZES = {{1, 1, 1}, {17, 4, 2}, {33, 5, 5}, {97, 17, 1}, {97, 33, 8}};

    private RoutingCases() {
    }

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (int[] size : SIZES) {
            int n = size[0];
            int e = size[1];
            int k = size[2];
            for (Router router : List.of(new SoftmaxRouter(false), new SoftmaxRouter(true))) {
                cases.add(route(n, e, k, router, false));
                cases.add(route(n, e, k, router, true));
                cases.add(routeBackward(n, e, k, router, false));
                cases.add(routeBackward(n, e, k, router, true));
            }
            for (int capacity : new int[]{0, 1, 3}) {
                cases.add(routingTables(n, e, k, capacity));
            }
            for (boolean drawn : new boolean[]{false, true}) {
                cases.add(placeChoices(n, e, k, drawn));
            }
            cases.add(routerZLoss(n, e));
            cases.add(routerZLossBackward(n, e));
            cases.add(addLoads(n, e, k));
            for (int c : new int[]{1, 17, 48}) {
                cases.add(gatherRows(n, e, k, c));
                cases.add(combineRows(n, e, k, c, false));
                cases.add(combineRows(n, e, k, c, true));
                cases.add(combineRowsBackward(n, e, k, c));
                for (int m : new int[]{1, 33}) {
                    cases.add(segmentMatmul(n, e, k, c, m, false));
                    cases.add(segmentMatmul(n, e, k, c, m, true));
                    cases.add(segmentMatmulBackward(n, e, k, c, m));
                }
            }
        }
        return cases;
    }

    private static KernelCase route(int n, int e, int k, Router router, boolean biased) {
        return KernelCase.of("route", "N %d E %d k %d %s%s", n, e, k, router, biased ? " with a bias" : "")
                .input("logits", n, e).input("bias", e).output("scores", ofFunction("scores"), n, e)
                .idsOutput("chosen", n, k).output("weights", ofFunction("weights"), n, k)
                .run((engine, t) -> engine.route(router, t[0], biased ? t[1] : null, t[2], t[3], t[4]));
    }

    /** Exponentials, and some divisions. */
    private static Tolerance ofFunction(String output) {
        return (truth, i) -> 2 * Tolerance.FUNCTION_ROOM * Math.abs(truth.after(output)[i]);
    }

    private static KernelCase routeBackward(int n, int e, int k, Router router, boolean further) {
        KernelCase.Builder builder = KernelCase.of("routeBackward", "N %d E %d k %d %s%s", n, e, k, router,
                further ? " with a further gradient" : "");
        double[] scores = scores(builder, n, e);
        return builder.input("scores", scores, n, e).ids("chosen", chosen(n, e, k), n, k)
                .input("dWeights", n, k).input("dScores", e)
                .output("dLogits", (truth, i) -> Tolerance.ofTerms(e + k) * 8 * (1 + truth.largestAfter("dLogits")), n,
                        e)
                .products("dLogits")
                .run((engine, t) -> engine.routeBackward(router, t[0], t[1], t[2], further ? t[3] : null, t[4]));
    }

    /** Rows of positive numbers that add up to 1. */
    private static double[] scores(KernelCase.Builder builder, int n, int e) {
        double[] scores = builder.gaussian(n * e);
        for (int row = 0; row < n; row++) {
            double sum = 0;
            for (int i = row * e; i < (row + 1) * e; i++) {
                scores[i] = Math.exp(scores[i]);
                sum += scores[i];
            }
            for (int i = row * e; i < (row + 1) * e; i++) {
                scores[i] = (float) (scores[i] / sum);
            }
        }
        return scores;
    }

    private static KernelCase routingTables(int n, int e, int k, int capacity) {
        double[] chosen = chosen(n, e, k);
        return KernelCase.of("routingTables", "N %d E %d k %d capacity %d", n, e, k, capacity)
                .ids("chosen", chosen, n, k).ids("positions", positions(chosen, k, capacity), n, k)
                .idsOutput("segments", e + 1).mayGrow(0).idsOutput("rows", n * k).idsOutput("places", n, k)
                .run((engine, t) -> engine.routingTables(t[0], capacity == 0 ? null : t[1], t[2], t[3], t[4]));
    }

    /** The definition of positions without draws. */
    private static double[] positions(double[] chosen, int k, int capacity) {
        double[] positions = new double[chosen.length];
        Map<Double, Integer> counts = new HashMap<>();
        for (int order = 0; order < k; order++) {
            for (int choice = order; choice < chosen.length; choice += k) {
                int position = counts.getOrDefault(chosen[choice], 0);
                positions[choice] = position < capacity ? position : -1;
                counts.merge(chosen[choice], order == 0 || position < capacity ? 1 : 0, Integer::sum);
            }
        }
        return positions;
    }

    private static KernelCase placeChoices(int n, int e, int k, boolean drawn) {
        RowDraws draws = new RowDraws(5, 7, 3, 11, Math.max(1, n - 1), n);
        return KernelCase.of("placeChoices", "N %d E %d k %d%s", n, e, k, drawn ? " drawn" : "")
                .ids("chosen", chosen(n, e, k), n, k).input("weights", n, k).idsOutput("positions", n, k)
                .changed("loads", Tolerance.ofSum("loads", 2), 3).mayGrow(0)
                .run((engine, t) -> engine.placeChoices(drawn ? draws : null, 3, t[0], t[1], t[2], t[3], 1));
    }

    private static KernelCase routerZLoss(int n, int e) {
        return KernelCase.of("routerZLoss", "N %d E %d", n, e).input("logits", n, e).mayGrow(0)
                .changed("loads", Tolerance.ofSum("loads", n + e), 2 * e + 2)
                .run((engine, t) -> engine.routerZLoss(t[0], t[1]));
    }

    private static KernelCase routerZLossBackward(int n, int e) {
        return KernelCase.of("routerZLossBackward", "N %d E %d", n, e).input("logits", n, e)
                .changed("dLogits",
                        (truth, i) -> Tolerance.ofTerms(e) * 8 * (1 + truth.largestAfter("dLogits")), n, e)
                .products("dLogits").run((engine, t) -> engine.routerZLossBackward(t[0], 0.5, t[1]));
    }

    private static KernelCase gatherRows(int n, int e, int k, int c) {
        return KernelCase.of("gatherRows", "N %d E %d k %d C %d", n, e, k, c).input("x", n, c).mayGrow(0)
                .ids("rows", tables(n, e, k).rows).output("y", (truth, i) -> 0, n * k, c).products("x", "y")
                .run((engine, t) -> engine.gatherRows(t[0], t[1], t[2]));
    }

    private static KernelCase combineRows(int n, int e, int k, int c, boolean weighted) {
        return KernelCase.of("combineRows", "N %d E %d k %d C %d%s", n, e, k, c, weighted ? " weighted" : "")
                .input("z", n * k, c).ids("places", tables(n, e, k).places, n, k).input("weights", n, k)
                .output("y", Tolerance.ofSum("y", k + 1), n, c).products("z", "y")
                .run((engine, t) -> engine.combineRows(t[0], t[1], weighted ? t[2] : null, t[3]));
    }

    private static KernelCase combineRowsBackward(int n, int e, int k, int width) {
        return KernelCase.of("combineRowsBackward", "N %d E %d k %d K %d", n, e, k, width).input("weights", n, k)
                .ids("places", tables(n, e, k).places, n, k)
                .changed("inner", Tolerance.ofSum("inner", 1), n * k, width)
                .changed("dInner", Tolerance.ofSum("dInner", 1), n * k, width)
                .output("dWeights", Tolerance.ofSum("dWeights", width), n, k).products("inner", "dInner")
                .run((engine, t) -> engine.combineRowsBackward(t[0], t[1], t[2], t[3], t[4]));
    }

    private static KernelCase segmentMatmul(int n, int e, int k, int width, int m, boolean transposed) {
        KernelCase.Builder builder = KernelCase.of("segmentMatmul", "N %d E %d k %d K %d M %d%s", n, e, k, width, m,
                transposed ? " weights transposed" : "");
        String[] products = names("x", "y", e);
        builder.input("x", n * k, width).ids("segments", tables(n, e, k).segments)
                .output("y", Tolerance.ofSum("y", width + 1), n * k, m);
        for (int expert = 0; expert < e; expert++) {
            builder.input("weight" + expert, transposed ? new int[]{m, width} : new int[]{width, m});
        }
        return builder.products(products)
                .run((engine, t) -> engine.segmentMatmul(t[0], t[1], experts(t, 3), transposed, t[2]));
    }

    private static String[] names(String first, String second, int e) {
        List<String> names = new ArrayList<>(List.of(first, second));
        IntStream.range(0, e).forEach(expert -> names.add("weight" + expert));
        return names.toArray(String[]::new);
    }

    private static KernelCase segmentMatmulBackward(int n, int e, int k, int width, int m) {
        KernelCase.Builder builder = KernelCase
                .of("segmentMatmulBackward", "N %d E %d k %d K %d M %d", n, e, k, width, m).input("dy", n * k, m)
                .input("x", n * k, width).ids("segments", tables(n, e, k).segments);
        for (int expert = 0; expert < e; expert++) {
            String name = "dWeight" + expert;
            builder.changed(name, Tolerance.ofSum(name, n * k + 1), m, width);
        }
        return builder.products("dy", "x")
                .run((engine, t) -> engine.segmentMatmulBackward(t[0], t[1], t[2], experts(t, 3)));
    }

    private static List<Tensor> experts(Tensor[] tensors, int first) {
        return Arrays.asList(tensors).subList(first, tensors.length);
    }

    private static KernelCase addLoads(int n, int e, int k) {
        KernelCase.Builder builder = KernelCase.of("addLoads", "N %d E %d k %d", n, e, k);
        double[] scores = scores(builder, n, e);
        return builder.input("scores", scores, n, e).ids("chosen", chosen(n, e, k), n, k).mayGrow(1)
                .changed("loads", Tolerance.ofSum("loads", n + 1), 2 * e)
                .run((engine, t) -> engine.addLoads(t[0], t[1], t[2]));
    }

    /** Different experts for each row. */
    private static double[] chosen(int n, int e, int k) {
        Random random = new Random(31L * n + e + k);
        List<Integer> experts = new ArrayList<>(
                IntStream.range(0, e).filter(i -> e == k || i != e - 2).boxed().toList());
        double[] chosen = new double[n * k];
        for (int row = 0; row < n; row++) {
            Collections.shuffle(experts, random);
            for (int choice = 0; choice < k; choice++) {
                chosen[row * k + choice] = experts.get(choice);
            }
        }
        return chosen;
    }

    private record Tables(double[] segments, double[] rows, double[] places) {
    }

    /** The definition of the tables, by a stable sort. */
    private static Tables tables(int n, int e, int k) {
        double[] chosen = chosen(n, e, k);
        int[] sorted = IntStream.range(0, n * k).boxed().sorted(Comparator.comparingDouble(i -> chosen[i]))
                .mapToInt(Integer::intValue).toArray();
        double[] places = new double[n * k];
        IntStream.range(0, n * k).forEach(place -> places[sorted[place]] = place);
        return new Tables(
                IntStream.rangeClosed(0, e)
                        .mapToDouble(expert -> Arrays.stream(chosen).filter(other -> other < expert).count()).toArray(),
                Arrays.stream(sorted).mapToDouble(choice -> choice / k).toArray(), places);
    }
}
