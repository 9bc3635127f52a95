package dev.troupe.engine.conformance;

import dev.troupe.engine.Engine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The conformance cases of embedding and cross-entropy. Letters: B microbatch size, T sequence length, N = B T, C hidden, V
 * vocabulary size.
 */
final class VocabularyCases {
    private VocabularyCases() {
    }

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (int v : new int[]{1, 50, 97, 257}) {
            for (int t : new int[]{1, 17, 97}) {
                for (int c : new int[]{1, 17, 48}) {
                    cases.add(embeddingOfShard(3, t, c, v, true));
                    cases.add(embeddingOfShard(3, t, c, v, false));
                    cases.add(embeddingBackwardOfShard(3, t, c, v));
                    cases.add(embedding(3, t, c, v));
                    cases.add(embeddingBackwardWithoutPositions(3, t, c, v));
                    cases.add(embeddingBackward(3, t, c, v));
                }
                for (boolean shard : new boolean[]{true, false}) {
                    cases.add(crossEntropy(t, v, shard));
                    cases.add(crossEntropyBackward(t, v, shard, false));
                    cases.add(crossEntropyBackward(t, v, shard, true));
                    cases.add(crossEntropyBoth(t, v, shard));
                }
            }
        }
        for (int n : new int[]{1, 17, 97, 1031}) {
            cases.add(shardSum(n));
            cases.add(joinShards(n));
        }
        return cases;
    }

    private static KernelCase embedding(int b, int t, int c, int v) {
        return KernelCase.of("embedding", "B %d T %d C %d V %d", b, t, c, v).ids("tokens", v, b * t)
                .input("tokenTable", v, c).mayGrow(0).input("positionTable", t + 3, c).mayGrow(0)
                .output("y", Tolerance.ofSum("y", 2), b * t, c).products("y")
                .run((engine, tensors) -> engine.embedding(tensors[0], tensors[1], tensors[2], t, tensors[3]));
    }

    private static KernelCase embeddingBackward(int b, int t, int c, int v) {
        int n = b * t;
        return KernelCase.of("embeddingBackward", "B %d T %d C %d V %d", b, t, c, v).ids("tokens", v, n)
                .input("dy", n, c).changed("dTokenTable", Tolerance.ofSum("dTokenTable", n + 1), v, c).mayGrow(0)
                .changed("dPositionTable", Tolerance.ofSum("dPositionTable", b + 1), t + 3, c).mayGrow(0)
                .products("dy")
                .run((engine, tensors) -> engine.embeddingBackward(tensors[0], tensors[1], t, tensors[2],
                        tensors[3]));
    }

    private static KernelCase embeddingOfShard(int b, int t, int c, int v, boolean positions) {
        return KernelCase
                .of("embedding", "of a shard%s B %d T %d C %d V %d", positions ? "" : " without positions", b, t, c, v)
                .ids("tokens", v, b * t).every(0, Engine.NOT_IN_SHARD).input("tokenTable", v, c)
                .input("positionTable", t, c)
                .output("y", Tolerance.ofSum("y", 2), b * t, c).products("y")
                .run((engine, tensors) -> engine.embedding(tensors[0], tensors[1], positions ? tensors[2] : null, t,
                        tensors[3]));
    }

    private static KernelCase embeddingBackwardOfShard(int b, int t, int c, int v) {
        int n = b * t;
        return KernelCase.of("embeddingBackward", "of a shard B %d T %d C %d V %d", b, t, c, v).ids("tokens", v, n)
                .every(0, Engine.NOT_IN_SHARD).input("dy", n, c)
                .changed("dTokenTable", Tolerance.ofSum("dTokenTable", n + 1), v, c)
                .changed("dPositionTable", Tolerance.ofSum("dPositionTable", b + 1), t, c).products("dy")
                .run((engine, tensors) -> engine.embeddingBackward(tensors[0], tensors[1], t, tensors[2],
                        tensors[3]));
    }

    private static KernelCase embeddingBackwardWithoutPositions(int b, int t, int c, int v) {
        int n = b * t;
        return KernelCase.of("embeddingBackward", "without positions B %d T %d C %d V %d", b, t, c, v)
                .ids("tokens", v, n).every(0, Engine.NOT_IN_SHARD).input("dy", n, c)
                .changed("dTokenTable", Tolerance.ofSum("dTokenTable", n + 1), v, c).products("dy")
                .run((engine, tensors) -> engine.embeddingBackward(tensors[0], tensors[1], t, tensors[2], null));
    }

    private static KernelCase crossEntropy(int n, int v, boolean shard) {
        KernelCase.Builder builder = KernelCase.of("crossEntropy", "%sN %d V %d", shard ? "of a shard " : "", n, v);
        double[] logits = wideLogits(builder, n, v);
        Tolerance tolerance = ofLogSum(logits, v);
        builder.input("logits", logits, n, v).mayGrow(1);
        return targets(builder, n, v, shard).output("rowLoss", tolerance, n)
                .output("rowLogSumExp", tolerance, n).products("logits")
                .run((engine, t) -> engine.crossEntropy(t[0], t[1], t[2], t[3]));
    }

    /** The highest logit is subtracted and added again; the sum of exponentials is between 1 and V. */
    private static Tolerance ofLogSum(double[] logits, int v) {
        return (truth, row) -> Tolerance.FUNCTION_ROOM + Tolerance.ofTerms(v)
                + Tolerance.ROOM * 3 * Truth.largest(logits, row * v, v);
    }

    /** The relative error of a probability is the error of its exponent; at the target 1 is subtracted. */
    private static Tolerance ofGradient(double[] logits, double[] logSums, double scale, int v) {
        return (truth, i) -> {
            double exponent = Math.abs(logits[i]) + Math.abs(logSums[i / v]);
            double probability = Math.exp(logits[i] - logSums[i / v]);
            double taken = truth.before("targets")[i / v] == i % v ? 1 : 0;
            return Math.abs(scale) * (probability
                    * (Tolerance.FUNCTION_ROOM + Tolerance.ofTerms(v) + Tolerance.ROOM * 3 * exponent)
                    + Tolerance.ROOM * taken);
        };
    }

    private static KernelCase crossEntropyBoth(int n, int v, boolean shard) {
        KernelCase.Builder builder = KernelCase.of("crossEntropyBoth", "%sN %d V %d", shard ? "of a shard " : "", n, v);
        double scale = -1.0 / 3;
        double[] logits = wideLogits(builder, n, v);
        double[] logSums = logSums(logits, n, v);
        Tolerance ofLogSum = ofLogSum(logits, v);
        Tolerance ofGradient = ofGradient(logits, logSums, scale, v);
        // The gradient is computed from this very logarithm.
        Tolerance both = (truth, i) -> ofGradient.unitsAt(truth, i)
                + Math.abs(scale) * Math.exp(logits[i] - logSums[i / v]) * ofLogSum.unitsAt(truth, i / v);
        return targets(builder, n, v, shard).output("rowLoss", ofLogSum, n).output("rowLogSumExp", ofLogSum, n)
                .changed("logits", both, logits, n, v).mayGrow(1).products("logits")
                .run((engine, t) -> engine.crossEntropyBoth(t[3], t[0], scale, t[1], t[2]));
    }

    static List<JoinedConformance.Joined> joined() {
        List<JoinedConformance.Joined> cases = new ArrayList<>();
        for (int[] sizes : new int[][]{{1, 1}, {17, 97}, {33, 264}, {3, 2056}}) {
            cases.add(new JoinedConformance.Joined(crossEntropyBoth(sizes[0], sizes[1], true), (engine, t) -> {
                engine.crossEntropy(t[3], t[0], t[1], t[2]);
                engine.crossEntropyBackward(t[3], t[0], t[2], -1.0 / 3, t[3]);
            }));
        }
        return cases;
    }

    private static KernelCase.Builder targets(KernelCase.Builder builder, int n, int v, boolean shard) {
        builder.ids("targets", v, n);
        return shard ? builder.every(0, Engine.NOT_IN_SHARD).every(1, Engine.NOT_COUNTED) : builder;
    }

    private static KernelCase crossEntropyBackward(int n, int v, boolean shard, boolean inPlace) {
        KernelCase.Builder builder = KernelCase.of("crossEntropyBackward", "%sN %d V %d%s", shard ? "of a shard " : "",
                n, v, inPlace ? " in place" : "");
        double scale = -1.0 / 3;
        double[] logits = wideLogits(builder, n, v);
        double[] logSums = logSums(logits, n, v);
        Tolerance tolerance = ofGradient(logits, logSums, scale, v);
        targets(builder, n, v, shard).input("rowLogSumExp", logSums, n);
        if (inPlace) {
            return builder.changed("logits", tolerance, logits, n, v).mayGrow(1).products("logits")
                    .run((engine, t) -> engine.crossEntropyBackward(t[2], t[0], t[1], scale, t[2]));
        }
        return builder.input("logits", logits, n, v).output("dLogits", tolerance, n, v).products("logits", "dLogits")
                .run((engine, t) -> engine.crossEntropyBackward(t[2], t[0], t[1], scale, t[3]));
    }

    /** A shard with the highest logarithm in every third row, and with nearly nothing in the others. */
    private static double[] below(double[] highest) {
        double[] logSums = highest.clone();
        for (int row = 0; row < highest.length; row++) {
            logSums[row] = (float) (highest[row] - (row % 3 == 0 ? 0 : row % 3 == 1 ? 0.3 * (row % 7) : 200));
        }
        return logSums;
    }

    private static double[] rounded(double[] values) {
        return Arrays.stream(values).map(value -> (float) value).toArray();
    }

    private static KernelCase shardSum(int n) {
        KernelCase.Builder builder = KernelCase.of("shardSum", "N %d", n);
        double[] highest = rounded(Arrays.stream(builder.gaussian(n)).map(value -> 100 + 10 * value).toArray());
        double[] logSums = below(highest);
        // The exponent is a rounded difference of two numbers.
        Tolerance tolerance = (truth, row) -> Math.exp(logSums[row] - highest[row])
                * (Tolerance.FUNCTION_ROOM + Tolerance.ROOM * (highest[row] - logSums[row]))
                + Float.MIN_NORMAL;
        return builder.input("rowLogSumExp", logSums, n).input("highest", highest, n).output("sums", tolerance, n)
                .run((engine, t) -> engine.shardSum(t[0], t[1], t[2]));
    }

    private static KernelCase joinShards(int n) {
        KernelCase.Builder builder = KernelCase.of("joinShards", "N %d", n);
        double[] highest = rounded(Arrays.stream(builder.gaussian(n)).map(value -> 100 + 10 * value).toArray());
        // Between 1, if one shard has all, and the number of shards.
        double[] sums = rounded(
                Arrays.stream(builder.gaussian(n)).map(value -> 1 + Math.min(7, value * value)).toArray());
        Tolerance whole = (truth, row) -> Tolerance.FUNCTION_ROOM
                + Tolerance.ROOM * (Math.abs(highest[row]) + Math.log(sums[row]));
        double[] logSums = below(highest);
        Tolerance loss = (truth, row) -> whole.unitsAt(truth, row) + Tolerance.ROOM
                * (highest[row] - logSums[row] + Math.log(sums[row]) + Math.abs(truth.before("rowLoss")[row]));
        return targets(builder, n, 97, true).input("highest", highest, n).input("sums", sums, n)
                .changed("rowLoss", loss, n).changed("rowLogSumExp", whole, logSums, n)
                .run((engine, t) -> engine.joinShards(t[0], t[1], t[2], t[3], t[4]));
    }

    /** Logits with exponentials that overflow a float in every other row, unless the highest is subtracted first. */
    private static double[] wideLogits(KernelCase.Builder builder, int n, int v) {
        double[] logits = builder.gaussian(n * v);
        for (int i = 0; i < logits.length; i++) {
            logits[i] = (float) (i / v % 2 == 0 ? logits[i] : 100 + 10 * logits[i]);
        }
        return logits;
    }

    private static double[] logSums(double[] logits, int n, int v) {
        double[] logSums = new double[n];
        for (int row = 0; row < n; row++) {
            double sum = 0;
            for (int j = 0; j < v; j++) {
                sum += Math.exp(logits[row * v + j]);
            }
            logSums[row] = (float) Math.log(sum);
        }
        return logSums;
    }
}
