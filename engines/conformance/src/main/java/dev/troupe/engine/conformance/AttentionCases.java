package dev.troupe.engine.conformance;

import dev.troupe.engine.Dropout;
import dev.troupe.engine.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * The conformance cases of causal attention. Letters: B microbatch size, T sequence length, H heads, C hidden size, D = C /
 * H, N = B T.
 */
final class AttentionCases {
    private AttentionCases() {
    }

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        // Heads as large as in real models, and more places than a block or a tile.
        for (int[] placesAndSize : new int[][]{{135, 64}, {70, 128}}) {
            cases.add(forward(1, placesAndSize[0], 2, 2 * placesAndSize[1]));
            cases.add(backward(1, placesAndSize[0], 2, 2 * placesAndSize[1]));
        }
        for (int b : new int[]{1, 3}) {
            for (int t : new int[]{1, 17, 97}) {
                for (int[] headsAndSize : new int[][]{{1, 1}, {1, 17}, {2, 32}, {3, 33}, {6, 48}}) {
                    cases.add(forward(b, t, headsAndSize[0], headsAndSize[1]));
                    cases.add(backward(b, t, headsAndSize[0], headsAndSize[1]));
                }
            }
        }
        return cases;
    }

    /** Attention with dropout of probabilities, for a whole layer and for some of its heads. */
    static List<KernelCase> dropping() {
        List<KernelCase> cases = new ArrayList<>();
        for (int t : new int[]{1, 17, 97}) {
            for (int[] headsAndFirst : new int[][]{{2, 0}, {5, 3}}) {
                Dropout dropout = new Dropout(0.3, 11, 5, 2, 7, headsAndFirst[0], 0, headsAndFirst[1]);
                cases.add(dropping(2, t, 2, 34, dropout));
                cases.add(droppingBackward(2, t, 2, 34, dropout));
            }
        }
        Dropout ofShortSequences = new Dropout(0.3, 11, 5, 2, 7, 2, 0, 0, 17, 40);
        cases.add(dropping(2, 17, 2, 34, ofShortSequences));
        cases.add(droppingBackward(2, 17, 2, 34, ofShortSequences));
        return cases;
    }

    private static KernelCase dropping(int b, int t, int heads, int c, Dropout dropout) {
        KernelCase.Builder builder = KernelCase.of("causalAttention with dropout",
                "B %d T %d H %d C %d from head %d, length %d",
                b,
                t, heads, c, dropout.firstColumn(), dropout.wholeLength());
        double[] qkv = builder.gaussian(b * t * 3 * c);
        return builder.input("qkv", qkv, b * t, 3 * c)
                .state("state", engine -> engine.attentionStateShape(b, t, heads))
                .output("y", tolerance("y", qkv, b, t, heads, c), b * t, c)
                // As without dropout.
                .roundsInside((truth, i) -> truth.largestAfter("y")).products("qkv", "y")
                .run((engine, tensors) -> engine.causalAttention(tensors[0], t, heads, dropout, tensors[1],
                        tensors[2]));
    }

    private static KernelCase droppingBackward(int b, int t, int heads, int c, Dropout dropout) {
        KernelCase.Builder builder = KernelCase.of("causalAttentionBackward with dropout",
                "B %d T %d H %d C %d from head %d, length %d", b, t, heads, c, dropout.firstColumn(),
                dropout.wholeLength());
        double[] qkv = builder.gaussian(b * t * 3 * c);
        return builder.input("dy", b * t, c).input("qkv", qkv, b * t, 3 * c)
                .prepared("y", engine -> Shape.of(b * t, c))
                .prepared("state", engine -> engine.attentionStateShape(b, t, heads))
                .output("dQkv", tolerance("dQkv", qkv, b, t, heads, c), b * t, 3 * c)
                .roundsInside(ofBackward(t, heads, c)).products("dy", "qkv", "y", "dQkv")
                .prepare((engine, tensors) -> engine.causalAttention(tensors[1], t, heads, dropout, tensors[3],
                        tensors[2]))
                .run((engine, tensors) -> engine.causalAttentionBackward(tensors[0], tensors[1], tensors[2],
                        tensors[3], t, heads, dropout, tensors[4]));
    }

    private static KernelCase forward(int b, int t, int heads, int c) {
        KernelCase.Builder builder = KernelCase.of("causalAttention", "B %d T %d H %d C %d", b, t, heads, c);
        double[] qkv = builder.gaussian(b * t * 3 * c);
        double largest = Truth.largest(qkv, 0, qkv.length);
        return builder.input("qkv", qkv, b * t, 3 * c)
                .state("state", engine -> engine.attentionStateShape(b, t, heads))
                .output("y", tolerance("y", qkv, b, t, heads, c), b * t, c)
                // Probabilities are rounded before they are multiplied with the values.
                .roundsInside((truth, i) -> largest).products("qkv", "y")
                .run((engine, tensors) -> engine.causalAttention(tensors[0], t, heads, tensors[1], tensors[2]));
    }

    private static KernelCase backward(int b, int t, int heads, int c) {
        KernelCase.Builder builder = KernelCase.of("causalAttentionBackward", "B %d T %d H %d C %d", b, t, heads, c);
        double[] qkv = builder.gaussian(b * t * 3 * c);
        return builder.input("dy", b * t, c).input("qkv", qkv, b * t, 3 * c)
                .prepared("y", engine -> Shape.of(b * t, c))
                .prepared("state", engine -> engine.attentionStateShape(b, t, heads))
                .output("dQkv", tolerance("dQkv", qkv, b, t, heads, c), b * t, 3 * c)
                .roundsInside(ofBackward(t, heads, c)).products("dy", "qkv", "y", "dQkv")
                .prepare((engine, tensors) -> engine.causalAttention(tensors[1], t, heads, tensors[3], tensors[2]))
                .run((engine, tensors) -> engine.causalAttentionBackward(tensors[0], tensors[1], tensors[2],
                        tensors[3], t, heads, tensors[4]));
    }

    /**
     * The error of probabilities, of their gradients, and of each row's mean. The mean contributes to a key for every query
     * that sees it; the sum of these probabilities is about 1 + 1/2 + .. + 1/T.
     */
    private static Tolerance ofBackward(int t, int heads, int c) {
        return (truth, i) -> (Math.sqrt((double) c / heads) + Math.log(t)) * truth.largestAfter("dQkv");
    }

    /**
     * Relative to the largest element: the relative error of a probability is the error of its score, sqrt(D) units of the
     * sum of |q| |k|; then come sums over T and D of numbers no larger than the result's largest.
     */
    private static Tolerance tolerance(String output, double[] qkv, int b, int t, int heads, int c) {
        int d = c / heads;
        double units = Tolerance.ROOM
                * (2 + Math.sqrt(t) + Math.sqrt(d) * (1 + largestScore(qkv, b, t, heads, c)));
        return (truth, i) -> units * truth.largestAfter(output);
    }

    /** The largest sum of |q| |k| / sqrt(D) of any query and key of one head. */
    private static double largestScore(double[] qkv, int b, int t, int heads, int c) {
        int d = c / heads;
        double largest = 0;
        for (int query = 0; query < b * t; query++) {
            for (int key = query / t * t; key <= query; key++) {
                for (int head = 0; head < heads; head++) {
                    double score = 0;
                    for (int j = head * d; j < (head + 1) * d; j++) {
                        score += Math.abs(qkv[query * 3 * c + j] * qkv[key * 3 * c + c + j]);
                    }
                    largest = Math.max(largest, score / Math.sqrt(d));
                }
            }
        }
        return largest;
    }
}
