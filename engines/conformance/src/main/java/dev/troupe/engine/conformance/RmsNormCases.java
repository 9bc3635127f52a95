package dev.troupe.engine.conformance;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/** The conformance cases of RMS norm. Letters: N rows, G norms in a row, C size of each. */
final class RmsNormCases {
    private static final double EPSILON = 1e-5;

    private RmsNormCases() {
    }

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (int n : new int[]{1, 17, 97}) {
            for (int[] groupsAndSize : new int[][]{{1, 1}, {3, 2}, {1, 17}, {5, 16}, {1, 48}, {2, 96}}) {
                int g = groupsAndSize[0];
                int c = groupsAndSize[1];
                cases.add(forward(n, g, c, false));
                cases.add(forward(n, g, c, true));
                for (NormCases.Into into : NormCases.Into.values()) {
                    cases.add(backwardInput(n, g, c, into));
                    cases.add(backward(n, g, c, into));
                }
                cases.add(backwardWeight(n, g, c));
            }
        }
        return cases;
    }

    private static KernelCase forward(int n, int g, int c, boolean isOfSum) {
        double terms = Tolerance.ofTerms(c);
        Tolerance y = (truth, i) -> terms * Math.abs(truth.after("y")[i]);
        Tolerance reciprocal = (truth, norm) -> terms * truth.after("reciprocalRoot")[norm];
        KernelCase.Builder builder = KernelCase
                .of("rmsNorm", "N %d G %d C %d%s", n, g, c, isOfSum ? " with a residual" : "").input("gamma", c)
                .output("y", y, n, g * c).output("reciprocalRoot", reciprocal, n * g);
        if (!isOfSum) {
            return builder.input("x", n, g * c).products("x", "y")
                    .run((engine, t) -> engine.rmsNorm(null, t[3], t[0], EPSILON, t[1], t[2]));
        }
        // No type rounds the sum of two such numbers, so every engine normalizes the same.
        Supplier<double[]> quarters = () -> Arrays.stream(builder.gaussian(n * g * c)).map(x -> Math.rint(4 * x) / 4)
                .toArray();
        return builder.changed("x", (truth, i) -> 0, quarters.get(), n, g * c)
                .input("residual", quarters.get(), n, g * c).products("x", "residual", "y")
                .run((engine, t) -> engine.rmsNorm(t[4], t[3], t[0], EPSILON, t[1], t[2]));
    }

    private static KernelCase backwardInput(int n, int g, int c, NormCases.Into into) {
        KernelCase.Builder builder = KernelCase.of("rmsNormBackwardInput", "N %d G %d C %d%s", n, g, c, into.words);
        double[] x = builder.gaussian(n * g * c);
        builder.input("x", x, n, g * c).input("gamma", c).input("reciprocalRoot", reciprocals(x, c), n * g);
        return into.operands(builder, inputGradient(c, into), n, g * c).run((engine, t) -> engine.rmsNormBackwardInput(
                t[3], t[0], t[1], t[2], t[into.dx(3)], into == NormCases.Into.DX_ADDED));
    }

    private static Tolerance inputGradient(int c, NormCases.Into into) {
        Function<Truth, double[]> products = truth -> NormCases.rowMeans(truth, c,
                i -> NormCases.gradient(truth, i, c) * normalized(truth, i, c));
        return (truth, i) -> {
            double r = truth.before("reciprocalRoot")[i / c];
            double added = into == NormCases.Into.DX_ADDED ? Math.abs(truth.before("dx")[i]) : 0;
            return Tolerance.ofTerms(c) * (r * (NormCases.gradient(truth, i, c)
                    + normalized(truth, i, c) * truth.derived(products)[i / c]) + added);
        };
    }

    private static KernelCase backwardWeight(int n, int g, int c) {
        KernelCase.Builder builder = KernelCase.of("rmsNormBackwardWeight", "N %d G %d C %d", n, g, c);
        double[] x = builder.gaussian(n * g * c);
        return builder.input("dy", n, g * c).input("x", x, n, g * c)
                .input("reciprocalRoot", reciprocals(x, c), n * g).changed("dGamma", gammaGradient(n * g, c), c)
                .products("dy", "x").run((engine, t) -> engine.rmsNormBackwardWeight(t[0], t[1], t[2], t[3]));
    }

    private static Tolerance gammaGradient(int norms, int c) {
        return (truth, j) -> {
            double terms = Math.abs(truth.before("dGamma")[j]);
            for (int i = j; i < norms * c; i += c) {
                terms += Math.abs(truth.before("dy")[i]) * normalized(truth, i, c);
            }
            return Tolerance.ofTerms(norms + 1) * terms;
        };
    }

    private static KernelCase backward(int n, int g, int c, NormCases.Into into) {
        KernelCase.Builder builder = KernelCase.of("rmsNormBackward", "N %d G %d C %d%s", n, g, c, into.words);
        double[] x = builder.gaussian(n * g * c);
        builder.input("x", x, n, g * c).input("gamma", c).input("reciprocalRoot", reciprocals(x, c), n * g)
                .changed("dGamma", gammaGradient(n * g, c), c);
        return into.operands(builder, inputGradient(c, into), n, g * c).run((engine, t) -> engine.rmsNormBackward(t[4],
                t[0], t[1], t[2], t[into.dx(4)], into == NormCases.Into.DX_ADDED, t[3]));
    }

    static List<JoinedConformance.Joined> joined() {
        List<JoinedConformance.Joined> cases = new ArrayList<>();
        for (int[] sizes : new int[][]{{1, 3, 2}, {17, 5, 16}, {97, 2, 96}, {40, 1, 776}}) {
            for (NormCases.Into into : NormCases.Into.values()) {
                cases.add(new JoinedConformance.Joined(backward(sizes[0], sizes[1], sizes[2], into), (engine, t) -> {
                    engine.rmsNormBackwardWeight(t[4], t[0], t[2], t[3]);
                    engine.rmsNormBackwardInput(t[4], t[0], t[1], t[2], t[into.dx(4)], into == NormCases.Into.DX_ADDED);
                }));
            }
        }
        return cases;
    }

    private static double normalized(Truth truth, int i, int c) {
        return Math.abs(truth.before("x")[i]) * truth.before("reciprocalRoot")[i / c];
    }

    private static double[] reciprocals(double[] x, int c) {
        double[] reciprocals = new double[x.length / c];
        for (int norm = 0; norm < reciprocals.length; norm++) {
            double squares = 0;
            for (int i = norm * c; i < (norm + 1) * c; i++) {
                squares += x[i] * x[i] / c;
            }
            reciprocals[norm] = (float) (1 / Math.sqrt(squares + EPSILON));
        }
        return reciprocals;
    }
}
