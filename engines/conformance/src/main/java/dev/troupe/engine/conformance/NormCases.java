package dev.troupe.engine.conformance;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntToDoubleFunction;
import java.util.function.Supplier;

/** The conformance cases of layer norm. Letters: N rows, C hidden size. */
final class NormCases {
    private static final double EPSILON = 1e-5;

    private NormCases() {
    }

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (int n : new int[]{1, 17, 97}) {
            for (int c : new int[]{1, 2, 17, 48, 96}) {
                cases.add(forward(n, c, false));
                cases.add(forward(n, c, true));
                for (Into into : Into.values()) {
                    cases.add(backwardInput(n, c, into));
                    cases.add(backward(n, c, into));
                }
                cases.add(backwardWeight(n, c));
            }
        }
        return cases;
    }

    static KernelCase forward(int n, int c, boolean isOfSum) {
        double terms = Tolerance.ofTerms(c);
        Function<Truth, double[]> input = truth -> isOfSum ? truth.after("x") : truth.before("x");
        // An error of one unit in x moves xhat by |x| / deviation, and the deviation by as much of itself.
        Tolerance y = (truth, i) -> {
            double r = truth.after("reciprocalDeviation")[i / c];
            double normalized = Math.abs((input.apply(truth)[i] - truth.after("mean")[i / c]) * r);
            double sensitivity = 1 + r * Truth.largest(input.apply(truth), i / c * c, c);
            return terms * ((1 + normalized) * sensitivity * Math.abs(truth.before("gamma")[i % c])
                    + Math.abs(truth.before("beta")[i % c]));
        };
        Tolerance mean = (truth, row) -> terms * Truth.largest(input.apply(truth), row * c, c);
        Tolerance reciprocal = (truth, row) -> {
            double r = truth.after("reciprocalDeviation")[row];
            return terms * r * (1 + r * Truth.largest(input.apply(truth), row * c, c));
        };
        KernelCase.Builder builder = KernelCase.of("layerNorm", "N %d C %d%s", n, c, isOfSum ? " with a residual" : "")
                .input("gamma", c).input("beta", c).output("y", y, n, c).output("mean", mean, n)
                .output("reciprocalDeviation", reciprocal, n);
        if (!isOfSum) {
            return builder.input("x", n, c).products("x", "y")
                    .run((engine, t) -> engine.layerNorm(null, t[5], t[0], t[1], EPSILON, t[2], t[3], t[4]));
        }
        // No type rounds the sum of two such numbers, so every engine normalizes the same.
        Supplier<double[]> quarters = () -> Arrays.stream(builder.gaussian(n * c)).map(x -> Math.rint(4 * x) / 4)
                .toArray();
        return builder.changed("x", (truth, i) -> 0, quarters.get(), n, c).input("residual", quarters.get(), n, c)
                .products("x", "residual", "y")
                .run((engine, t) -> engine.layerNorm(t[6], t[5], t[0], t[1], EPSILON, t[2], t[3], t[4]));
    }

    /** A case with a residual as two calls. */
    static void addThenNormalize(Engine engine, Trial trial) {
        Tensor x = trial.tensor(5);
        engine.add(trial.tensor(6), x, x);
        engine.layerNorm(null, x, trial.tensor(0), trial.tensor(1), EPSILON, trial.tensor(2), trial.tensor(3),
                trial.tensor(4));
    }

    private static KernelCase backwardInput(int n, int c, Into into) {
        KernelCase.Builder builder = KernelCase.of("layerNormBackwardInput", "N %d C %d%s", n, c, into.words);
        statistics(builder.gaussian(n * c), builder, n, c);
        return into.operands(builder, inputGradient(c, into), n, c).run((engine, t) -> engine.layerNormBackwardInput(
                t[4], t[0], t[1], t[2], t[3], t[into.dx(4)], into == Into.DX_ADDED));
    }

    /** Appends the inputs of all backwards for the input, except dy. */
    private static void statistics(double[] x, KernelCase.Builder builder, int n, int c) {
        builder.input("x", x, n, c).input("gamma", c).input("mean", means(x, n, c), n).input("reciprocalDeviation",
                reciprocals(x, n, c), n);
    }

    private static Tolerance inputGradient(int c, Into into) {
        Function<Truth, double[]> gradients = truth -> rowMeans(truth, c, i -> gradient(truth, i, c));
        Function<Truth, double[]> products = truth -> rowMeans(truth, c,
                i -> gradient(truth, i, c) * normalizedTerms(truth, i, c));
        return (truth, i) -> {
            int row = i / c;
            double r = truth.before("reciprocalDeviation")[row];
            double added = into == Into.DX_ADDED ? Math.abs(truth.before("dx")[i]) : 0;
            return Tolerance.ofTerms(c) * (r * (gradient(truth, i, c) + truth.derived(gradients)[row]
                    + normalizedTerms(truth, i, c) * truth.derived(products)[row]) + added);
        };
    }

    /** The mean over each row of a function of the element's index. */
    static double[] rowMeans(Truth truth, int c, IntToDoubleFunction ofElement) {
        double[] means = new double[truth.before("x").length / c];
        for (int i = 0; i < means.length * c; i++) {
            means[i / c] += ofElement.applyAsDouble(i) / c;
        }
        return means;
    }

    static double gradient(Truth truth, int i, int c) {
        return Math.abs(truth.before("dy")[i] * truth.before("gamma")[i % c]);
    }

    private static KernelCase backwardWeight(int n, int c) {
        KernelCase.Builder builder = KernelCase.of("layerNormBackwardWeight", "N %d C %d", n, c);
        double[] x = builder.gaussian(n * c);
        return builder.input("dy", n, c).input("x", x, n, c).input("mean", means(x, n, c), n)
                .input("reciprocalDeviation", reciprocals(x, n, c), n).changed("dGamma", gammaGradient(n, c), c)
                .changed("dBeta", Tolerance.ofSum("dBeta", n + 1), c).products("dy", "x")
                .run((engine, t) -> engine.layerNormBackwardWeight(t[0], t[1], t[2], t[3], t[4], t[5]));
    }

    private static Tolerance gammaGradient(int n, int c) {
        return (truth, j) -> {
            double terms = Math.abs(truth.before("dGamma")[j]);
            for (int row = 0; row < n; row++) {
                terms += Math.abs(truth.before("dy")[row * c + j]) * normalizedTerms(truth, row * c + j, c);
            }
            return Tolerance.ofTerms(n + 1) * terms;
        };
    }

    private static KernelCase backward(int n, int c, Into into) {
        KernelCase.Builder builder = KernelCase.of("layerNormBackward", "N %d C %d%s", n, c, into.words);
        statistics(builder.gaussian(n * c), builder, n, c);
        builder.changed("dGamma", gammaGradient(n, c), c).changed("dBeta", Tolerance.ofSum("dBeta", n + 1), c);
        return into.operands(builder, inputGradient(c, into), n, c).run((engine, t) -> engine.layerNormBackward(t[6],
                t[0], t[1], t[2], t[3], t[into.dx(6)], into == Into.DX_ADDED, t[4], t[5]));
    }

    static List<JoinedConformance.Joined> joined() {
        List<JoinedConformance.Joined> cases = new ArrayList<>();
        for (int[] sizes : new int[][]{{1, 1}, {17, 33}, {97, 96}, {40, 776}}) {
            for (Into into : Into.values()) {
                cases.add(new JoinedConformance.Joined(backward(sizes[0], sizes[1], into), (engine, t) -> {
                    engine.layerNormBackwardWeight(t[6], t[0], t[2], t[3], t[4], t[5]);
                    engine.layerNormBackwardInput(t[6], t[0], t[1], t[2], t[3], t[into.dx(6)], into == Into.DX_ADDED);
                }));
            }
        }
        return cases;
    }

    /** The magnitudes of the two terms of xhat = x r - mean r; an engine may multiply before it subtracts. */
    private static double normalizedTerms(Truth truth, int i, int c) {
        return (Math.abs(truth.before("x")[i]) + Math.abs(truth.before("mean")[i / c]))
                * truth.before("reciprocalDeviation")[i / c];
    }

    private static double[] means(double[] x, int n, int c) {
        double[] means = new double[n];
        for (int i = 0; i < x.length; i++) {
            means[i / c] += x[i] / c;
        }
        return floats(means);
    }

    private static double[] reciprocals(double[] x, int n, int c) {
        double[] means = means(x, n, c);
        double[] variances = new double[n];
        for (int i = 0; i < x.length; i++) {
            double offset = x[i] - means[i / c];
            variances[i / c] += offset * offset / c;
        }
        for (int row = 0; row < n; row++) {
            variances[row] = 1 / Math.sqrt(variances[row] + EPSILON);
        }
        return floats(variances);
    }

    private static double[] floats(double[] numbers) {
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = (float) numbers[i];
        }
        return numbers;
    }

    /** The destination of a norm's gradient for x. */
    enum Into {
        /** A separate tensor. */
        DX(""),
        /** The tensor of dy. */
        DY(" into dy"),
        /** A tensor to which it is added. */
        DX_ADDED(" accumulate");

        final String words;

        Into(String words) {
            this.words = words;
        }

        /** Appends dy, and dx if that is another operand; these and x are products. */
        KernelCase.Builder operands(KernelCase.Builder builder, Tolerance tolerance, int... sizes) {
            return switch (this) {
                case DX -> builder.input("dy", sizes).output("dx", tolerance, sizes).products("x", "dy", "dx");
                case DY -> builder.changed("dy", tolerance, sizes).products("x", "dy");
                case DX_ADDED -> builder.input("dy", sizes).changed("dx", tolerance, sizes).products("x", "dy", "dx");
            };
        }

        /** The place of dx among the operands, for this place of dy. */
        int dx(int dy) {
            return this == DY ? dy : dy + 1;
        }
    }
}
