package dev.troupe.engine.conformance;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The conformance cases of grouped attention, over documents, and of rotary positions. Letters: B microbatch size, T
 * sequence length, H heads, K heads with keys and values, D size of a head, N = B T.
 */
final class GroupedAttentionCases {
    private GroupedAttentionCases() {
    }

    /** Sizes of one call, and whether a sequence has several documents. */
    private record Sizes(int b, int t, int h, int k, int d, boolean documents) {
        @Override
        public String toString() {
            return String.format(Locale.ROOT, "B %d T %d H %d K %d D %d%s", b, t, h, k, d,
                    documents ? " of documents" : "");
        }

        int rows() {
            return b * t;
        }
    }

    /** Heads nearly as large as in real models, and more places than a block or a tile. */
    private static List<Sizes> ofModels(boolean documents) {
        return List.of(new Sizes(1, 135, 2, 1, 64, documents), new Sizes(1, 70, 2, 1, 128, documents),
                new Sizes(2, 45, 1, 1, 72, documents));
    }

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (boolean documents : new boolean[]{false, true}) {
            for (Sizes sizes : ofModels(documents)) {
                cases.add(forward(sizes, "", Dropout.NONE));
                cases.add(backward(sizes, "", Dropout.NONE));
                if (!documents && sizes.b == 1) {
                    cases.add(cached(sizes, 1));
                    cases.add(cached(sizes, 67));
                }
            }
        }
        for (int[] heads : new int[][]{{1, 1, 1}, {4, 4, 8}, {6, 2, 17}, {3, 1, 32}}) {
            for (int t : new int[]{700, 1, 17, 97}) {
                if (t < 700 || heads[0] == 3) {
                    for (boolean documents : new boolean[]{false, true}) {
                        Sizes sizes = new Sizes(t == 700 ? 1 : 2, t, heads[0], heads[1], heads[2], documents);
                        cases.add(forward(sizes, "", Dropout.NONE));
                        cases.add(backward(sizes, "", Dropout.NONE));
                    }
                    for (int rows : t == 1 ? new int[]{1} : new int[]{1, 5, t}) {
                        cases.add(cached(new Sizes(1, t, heads[0], heads[1], heads[2], false), rows));
                    }
                }
            }
        }
        for (int g : new int[]{1, 5}) {
            for (int d : new int[]{2, 6, 34, 64}) {
                for (boolean documents : new boolean[]{false, true}) {
                    for (boolean back : new boolean[]{false, true}) {
                        // All numbers of a head, and some.
                        for (int turned : d == 34 ? new int[]{d, 2, 20} : new int[]{d}) {
                            cases.add(rotary(new Sizes(3, 17, g, g, d, documents), turned, back, false));
                            cases.add(rotary(new Sizes(3, 17, g, g, d, documents), turned, back, true));
                        }
                    }
                }
            }
        }
        return cases;
    }

    static List<KernelCase> dropping() {
        List<KernelCase> cases = new ArrayList<>();
        for (boolean documents : new boolean[]{false, true}) {
            List<Sizes> all = new ArrayList<>(ofModels(documents));
            all.add(new Sizes(2, 97, 4, 2, 17, documents));
            for (Sizes sizes : all) {
                Dropout dropout = new Dropout(0.3, 11, 5, 2, 7, 6, 0, 2, sizes.t, documents ? sizes.t : sizes.t + 15);
                cases.add(forward(sizes, " with dropout", dropout));
                cases.add(backward(sizes, " with dropout", dropout));
            }
        }
        return cases;
    }

    /** Begins documents at rows chosen by a hash, some of a single token. */
    private static double[] starts(Sizes sizes) {
        double[] starts = new double[sizes.rows()];
        for (int row = 0; row < starts.length; row++) {
            int place = row % sizes.t;
            boolean begins = place == 0 || row * 2654435761L % 97 < 7 || row % 41 > 38;
            starts[row] = begins ? place : starts[row - 1];
        }
        return starts;
    }

    private static KernelCase forward(Sizes sizes, String kind, Dropout dropout) {
        KernelCase.Builder builder = KernelCase.of("groupedAttention" + kind, "%s", sizes);
        inputs(builder, sizes);
        double units = units(sizes);
        Tolerance tolerance = (truth, i) -> units * truth.largestAfter("y");
        int starts = sizes.documents ? 3 : -1;
        builder.state("state", engine -> engine.attentionStateShape(sizes.b, sizes.t, sizes.h))
                .output("y", tolerance, sizes.rows(), sizes.h * sizes.d)
                // Probabilities are rounded before they are multiplied with the values.
                .roundsInside((truth, i) -> truth.largestAfter("y")).products("queries", "keys", "values", "y");
        int after = sizes.documents ? 4 : 3;
        return builder.run((engine, x) -> engine.groupedAttention(x[0], x[1], x[2], starts < 0 ? null : x[starts],
                sizes.t, sizes.h, sizes.k, dropout, x[after], x[after + 1]));
    }

    /** The last rows, with unused rows after the keys and values that they see. */
    private static KernelCase cached(Sizes sizes, int rows) {
        double units = units(sizes);
        int room = sizes.t + 3;
        return KernelCase.of("cachedAttention", "%d rows, %s", rows, sizes)
                .input("queries", rows, sizes.h * sizes.d)
                .input("keys", room, sizes.k * sizes.d).input("values", room, sizes.k * sizes.d)
                .output("y", (truth, i) -> units * truth.largestAfter("y"), rows, sizes.h * sizes.d)
                // As in the forward over all rows.
                .roundsInside((truth, i) -> truth.largestAfter("y")).products("queries", "keys", "values", "y")
                .run((engine, x) -> engine.cachedAttention(x[0], x[1], x[2], sizes.t, sizes.h, sizes.k, x[3]));
    }

    private static KernelCase backward(Sizes sizes, String kind, Dropout dropout) {
        KernelCase.Builder builder = KernelCase.of("groupedAttentionBackward" + kind, "%s", sizes);
        inputs(builder, sizes);
        int starts = sizes.documents ? 3 : -1;
        int after = sizes.documents ? 4 : 3;
        int width = sizes.h * sizes.d;
        int narrow = sizes.k * sizes.d;
        double units = units(sizes);
        // If a query has one key, its gradient is a difference of equal numbers.
        Tolerance tolerance = (truth, i) -> units * largestGradient(truth);
        builder.input("dy", sizes.rows(), width).prepared("y", engine -> Shape.of(sizes.rows(), width))
                .prepared("state", engine -> engine.attentionStateShape(sizes.b, sizes.t, sizes.h))
                .output("dQueries", tolerance, sizes.rows(), width).roundsInside(rounding(sizes))
                .output("dKeys", tolerance, sizes.rows(), narrow).roundsInside(rounding(sizes))
                .output("dValues", tolerance, sizes.rows(), narrow).roundsInside(rounding(sizes))
                .products("queries", "keys", "values", "dy", "y", "dQueries", "dKeys", "dValues");
        return builder
                .prepare((engine, x) -> engine.groupedAttention(x[0], x[1], x[2], starts < 0 ? null : x[starts],
                        sizes.t, sizes.h, sizes.k, dropout, x[after + 2], x[after + 1]))
                .run((engine, x) -> engine.groupedAttentionBackward(x[after], x[0], x[1], x[2],
                        starts < 0 ? null : x[starts], x[after + 1], x[after + 2], sizes.t, sizes.h, sizes.k, dropout,
                        x[after + 3], x[after + 4], x[after + 5]));
    }

    /** Queries, keys, values, and the beginnings of documents. */
    private static void inputs(KernelCase.Builder builder, Sizes sizes) {
        builder.input("queries", sizes.rows(), sizes.h * sizes.d).input("keys", sizes.rows(), sizes.k * sizes.d)
                .input("values", sizes.rows(), sizes.k * sizes.d);
        if (sizes.documents) {
            builder.ids("starts", starts(sizes));
        }
    }

    /**
     * As without shared heads: the relative error of a probability is the error of its score, sqrt(D) units of the sum of
     * |q| |k|, which for normal numbers is seldom above about 3 sqrt(D) and 8.
     */
    private static double units(Sizes sizes) {
        double score = 8 + 3 * Math.sqrt(sizes.d);
        return Tolerance.ROOM
                * (2 + Math.sqrt((double) sizes.t * sizes.h / sizes.k) + Math.sqrt(sizes.d) * (1 + score));
    }

    private static Tolerance rounding(Sizes sizes) {
        return (truth, i) -> (Math.sqrt(sizes.d) + Math.log(sizes.t)) * largestGradient(truth);
    }

    private static double largestGradient(Truth truth) {
        return Math.max(truth.largestAfter("dQueries"),
                Math.max(truth.largestAfter("dKeys"), truth.largestAfter("dValues")));
    }

    private static KernelCase rotary(Sizes sizes, int turned, boolean back, boolean inPlace) {
        KernelCase.Builder builder = KernelCase.of("rotary", "%s%s%s%s", sizes,
                turned < sizes.d ? " turned " + turned : "", back ? " back" : "",
                inPlace ? " in place" : "");
        int half = turned / 2;
        int width = sizes.h * sizes.d;
        int places = sizes.t + (back ? 3 : 0);
        double[] cosines = new double[places * half];
        double[] sines = new double[places * half];
        for (int i = 0; i < cosines.length; i++) {
            double angle = (i / half) * Math.pow(100, -(double) (i % half) / half);
            cosines[i] = (float) Math.cos(angle);
            sines[i] = (float) Math.sin(angle);
        }
        builder.input("cosines", cosines, places, half).input("sines", sines, places, half);
        if (sizes.documents) {
            builder.ids("starts", starts(sizes));
        }
        int starts = sizes.documents ? 2 : -1;
        int x = sizes.documents ? 3 : 2;
        Tolerance tolerance = (truth, i) -> {
            if (i % sizes.d >= turned) {
                return 0;
            }
            int other = i % sizes.d < half ? i + half : i - half;
            return Tolerance.ofTerms(2) * (Math.abs(truth.before("x")[i]) + Math.abs(truth.before("x")[other]));
        };
        if (inPlace) {
            return builder.changed("x", tolerance, sizes.rows(), width).products("x")
                    .run((engine, o) -> engine.rotary(o[x], starts < 0 ? null : o[starts], sizes.t, o[0], o[1],
                            sizes.d, back, o[x]));
        }
        return builder.input("x", sizes.rows(), width).output("y", tolerance, sizes.rows(), width)
                .products("x", "y").run((engine, o) -> engine.rotary(o[x], starts < 0 ? null : o[starts], sizes.t,
                        o[0], o[1], sizes.d, back, o[x + 1]));
    }
}
