package dev.troupe.engine.conformance;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/** The norm by the root mean square. Letters: N rows, G norms in a row, C size of each. */
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
                for (Into into : Into.values()) {
                    cases.add(backwardInput(n, g, c, into));
                }
                cases.add(backwardWeight(n, g, c));
            }
        }
        return cases;
    }

    /** Where the gradient for x goes. */
    private enum Into {
        DX, DY, DX_ADDED
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
        // No type rounds the sum of two such numbers, so that what is normalized is the same everywhere.
        Supplier<double[]> quarters = () -> Arrays.stream(builder.gaussian(n * g * c)).map(x -> Math.rint(4 * x) / 4)
                .toArray();
        return builder.changed("x", (truth, i) -> 0, quarters.get(), n, g * c)
                .input("residual", quarters.get(), n, g * c).products("x", "residual", "y")
                .run((engine, t) -> engine.rmsNorm(t[4], t[3], t[0], EPSILON, t[1], t[2]));
    }

    private static KernelCase backwardInput(int n, int g, int c, Into into) {
        KernelCase.Builder builder = KernelCase.of("rmsNormBackwardInput", "N %d G %d C %d%s", n, g, c, switch (into) {
            case DX -> "";
            case DY -> " into dy";
            case DX_ADDED -> " accumulate";
        });
        Tolerance tolerance = (truth, i) -> {
            double r = truth.before("reciprocalRoot")[i / c];
            double products = 0;
            for (int j = i / c * c; j < (i / c + 1) * c; j++) {
                products += gradient(truth, j, c) * normalized(truth, j, c) / c;
            }
            double added = into == Into.DX_ADDED ? Math.abs(truth.before("dx")[i]) : 0;
            return Tolerance.ofTerms(c) * (r * (gradient(truth, i, c) + normalized(truth, i, c) * products) + added);
        };
        double[] x = builder.gaussian(n * g * c);
        builder.input("x", x, n, g * c).input("gamma", c).input("reciprocalRoot", reciprocals(x, c), n * g);
        return switch (into) {
            case DX -> builder.input("dy", n, g * c).output("dx", tolerance, n, g * c).products("x", "dy", "dx")
                    .run((engine, t) -> engine.rmsNormBackwardInput(t[3], t[0], t[1], t[2], t[4], false));
            case DY -> builder.changed("dy", tolerance, n, g * c).products("x", "dy")
                    .run((engine, t) -> engine.rmsNormBackwardInput(t[3], t[0], t[1], t[2], t[3], false));
            case DX_ADDED -> builder.input("dy", n, g * c).changed("dx", tolerance, n, g * c)
                    .products("x", "dy", "dx")
                    .run((engine, t) -> engine.rmsNormBackwardInput(t[3], t[0], t[1], t[2], t[4], true));
        };
    }

    private static KernelCase backwardWeight(int n, int g, int c) {
        KernelCase.Builder builder = KernelCase.of("rmsNormBackwardWeight", "N %d G %d C %d", n, g, c);
        Tolerance tolerance = (truth, j) -> {
            double terms = Math.abs(truth.before("dGamma")[j]);
            for (int i = j; i < n * g * c; i += c) {
                terms += Math.abs(truth.before("dy")[i]) * normalized(truth, i, c);
            }
            return Tolerance.ofTerms(n * g + 1) * terms;
        };
        double[] x = builder.gaussian(n * g * c);
        return builder.input("dy", n, g * c).input("x", x, n, g * c)
                .input("reciprocalRoot", reciprocals(x, c), n * g).changed("dGamma", tolerance, c)
                .products("dy", "x").run((engine, t) -> engine.rmsNormBackwardWeight(t[0], t[1], t[2], t[3]));
    }

    private static double gradient(Truth truth, int i, int c) {
        return Math.abs(truth.before("dy")[i] * truth.before("gamma")[i % c]);
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
