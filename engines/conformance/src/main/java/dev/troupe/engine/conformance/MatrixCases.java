package dev.troupe.engine.conformance;

import dev.troupe.engine.Dropout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The conformance cases of matrix products, and of linear layers with bias and activation. Letters as in the contract: M, N,
 * K any size.
 */
final class MatrixCases {
    private static final int[] SIZES = {1, 17, 97};

    private MatrixCases() {
    }

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (int m : SIZES) {
            for (int k : SIZES) {
                for (int n : SIZES) {
                    for (int flags = 0; flags < 4; flags++) {
                        for (Into into : Into.values()) {
                            cases.add(matmul(m, k, n, (flags & 1) != 0, (flags & 2) != 0, into));
                        }
                    }
                    cases.add(linear(m, k, n, true));
                    cases.add(linear(m, k, n, false));
                    cases.add(linearGelu(m, k, n));
                }
            }
            for (int n : new int[]{1, 17, 96, 257}) {
                cases.add(biasBackward(m, n));
                cases.add(gelu(m, n, true));
                cases.add(gelu(m, n, false));
                cases.add(geluBackward(m, n, false));
                cases.add(geluBackward(m, n, true));
                cases.add(swiGlu(m, n));
                cases.add(swiGluBackward(m, n, true));
                cases.add(swiGluBackward(m, n, false));
            }
        }
        return cases;
    }

    /** The result of a product: of the product type, or floats that are overwritten or added to. */
    private enum Into {
        PRODUCTS, FLOATS, FLOATS_ADDED
    }

    private static KernelCase matmul(int m, int k, int n, boolean transposeLeft, boolean transposeRight, Into into) {
        boolean accumulate = into == Into.FLOATS_ADDED;
        KernelCase.Builder builder = KernelCase.of("matmul", "M %d K %d N %d%s%s%s", m, k, n,
                transposeLeft ? " left transposed" : "", transposeRight ? " right transposed" : "",
                switch (into) {
                    case PRODUCTS -> " to products";
                    case FLOATS -> "";
                    case FLOATS_ADDED -> " accumulate";
                });
        builder.input("left", transposeLeft ? new int[]{k, m} : new int[]{m, k});
        builder.input("right", transposeRight ? new int[]{n, k} : new int[]{k, n});
        Tolerance tolerance = Tolerance.ofSum("product", k + 1);
        if (accumulate) {
            builder.changed("product", tolerance, m, n);
        } else {
            builder.output("product", tolerance, m, n);
        }
        return builder
                .products(into == Into.PRODUCTS
                        ? new String[]{"left", "right", "product"}
                        : new String[]{"left", "right"})
                .run((engine, t) -> engine.matmul(t[0], transposeLeft, t[1], transposeRight, t[2], accumulate));
    }

    private static KernelCase linear(int n, int k, int m, boolean transposed) {
        return KernelCase.of("linear", "N %d K %d M %d%s", n, k, m, transposed ? " weight transposed" : "")
                .input("x", n, k).input("weight", transposed ? new int[]{m, k} : new int[]{k, m}).input("bias", m)
                .output("y", Tolerance.ofSum("y", k + 1), n, m).products("x", "weight", "y")
                .run((engine, t) -> engine.linear(t[0], t[1], transposed, t[2], t[3]));
    }

    static KernelCase linearGelu(int n, int k, int m) {
        Tolerance before = Tolerance.ofSum("preActivation", k + 1);
        // The slope of GELU is at most 1.13, and 1 + tanh may cancel down to one unit.
        Tolerance after = (truth, i) -> 1.13 * before.unitsAt(truth, i)
                + Tolerance.FUNCTION_ROOM * Math.abs(truth.after("preActivation")[i]);
        return KernelCase.of("linearGelu", "N %d K %d M %d", n, k, m).input("x", n, k).input("weight", k, m)
                .input("bias", m).output("preActivation", before, n, m).output("y", after, n, m)
                // GELU of a rounded pre-activation; its slope is at most 1.13.
                .roundsInside((truth, i) -> 1.13 * Math.abs(truth.after("preActivation")[i]))
                .products("x", "weight", "preActivation", "y")
                .run((engine, t) -> engine.linearGelu(t[0], t[1], t[2], t[3], t[4]));
    }

    /** Dropout of whole matrices and of parts of wider ones. */
    static List<KernelCase> dropping() {
        List<KernelCase> cases = new ArrayList<>();
        for (int n : SIZES) {
            for (int m : new int[]{1, 17, 1030}) {
                cases.add(dropout(n, m, new Dropout(0.1, -5, 1000, 3, 65535, m, 0, 0), true));
                cases.add(dropout(n, m, new Dropout(0.5, 1L << 40, 0, 0, 0, m + 40, 9, 33), false));
                cases.add(dropout(n, m, new Dropout(0.5, 7, 2, 1, 3, m, 2, 0, 3, 5), false));
            }
        }
        return cases;
    }

    private static KernelCase dropout(int n, int m, Dropout dropout, boolean inPlace) {
        KernelCase.Builder builder = KernelCase.of("dropout", "N %d M %d%s", n, m,
                inPlace
                        ? " in place"
                        : " of a part from row " + dropout.firstRow() + ", column " + dropout.firstColumn());
        if (inPlace) {
            return builder.changed("x", Tolerance.ofSum("x", 2), n, m).products("x")
                    .run((engine, t) -> engine.dropout(t[0], dropout, t[0]));
        }
        return builder.input("x", n, m).output("y", Tolerance.ofSum("y", 2), n, m).products("x", "y")
                .run((engine, t) -> engine.dropout(t[0], dropout, t[1]));
    }

    private static KernelCase biasBackward(int n, int m) {
        return KernelCase.of("biasBackward", "N %d M %d", n, m).input("dy", n, m).mayGrow(0)
                .changed("dBias", Tolerance.ofSum("dBias", n + 1), m).products("dy")
                .run((engine, t) -> engine.biasBackward(t[0], t[1]));
    }

    private static KernelCase gelu(int n, int m, boolean inPlace) {
        KernelCase.Builder builder = KernelCase.of("gelu", "N %d M %d%s", n, m, inPlace ? " in place" : "");
        double[] preActivation = wide(builder, n * m);
        // As linearGelu: 1 + tanh may cancel down to one unit.
        Tolerance tolerance = (truth, i) -> Tolerance.FUNCTION_ROOM * Math.abs(truth.before("preActivation")[i]);
        if (inPlace) {
            return builder.changed("preActivation", tolerance, preActivation, n, m)
                    .products("preActivation")
                    .run((engine, t) -> engine.gelu(t[0], t[0]));
        }
        return builder.input("preActivation", preActivation, n, m).output("y", tolerance, n, m)
                .products("preActivation", "y")
                .run((engine, t) -> engine.gelu(t[0], t[1]));
    }

    /** Numbers that reach both flat ends of GELU. */
    private static double[] wide(KernelCase.Builder builder, int count) {
        return Arrays.stream(builder.gaussian(count)).map(number -> 4 * number).toArray();
    }

    private static KernelCase geluBackward(int n, int m, boolean inPlace) {
        KernelCase.Builder builder = KernelCase.of("geluBackward", "N %d M %d%s", n, m, inPlace ? " in place" : "");
        double[] preActivation = wide(builder, n * m);
        Tolerance tolerance = (truth, i) -> {
            double x = Math.abs(truth.before("preActivation")[i]);
            // (1 + tanh) / 2 has an error of one unit; in x (1 - tanh^2) r (1 + 3 c x^2) / 2 it is multiplied.
            return Tolerance.FUNCTION_ROOM * Math.abs(truth.before("dy")[i]) * (1 + x + 0.11 * x * x * x);
        };
        builder.input("preActivation", preActivation, n, m);
        if (inPlace) {
            return builder.changed("dy", tolerance, n, m).products("preActivation", "dy")
                    .run((engine, t) -> engine.geluBackward(t[0], t[1], t[1]));
        }
        return builder.input("dy", n, m).output("dx", tolerance, n, m).products("preActivation", "dy", "dx")
                .run((engine, t) -> engine.geluBackward(t[0], t[1], t[2]));
    }

    private static KernelCase swiGlu(int n, int m) {
        KernelCase.Builder builder = KernelCase.of("swiGlu", "N %d M %d", n, m);
        Tolerance tolerance = (truth, i) -> Tolerance.FUNCTION_ROOM * (1 + Math.abs(truth.before("gate")[i]))
                * Math.abs(truth.after("y")[i]);
        return builder.input("gate", wide(builder, n * m), n, m).input("up", n, m).output("y", tolerance, n, m)
                .products("gate", "up", "y").run((engine, t) -> engine.swiGlu(t[0], t[1], t[2]));
    }

    /** Into separate tensors, or, as in a layer, over the gate and over dy. */
    private static KernelCase swiGluBackward(int n, int m, boolean inPlace) {
        KernelCase.Builder builder = KernelCase.of("swiGluBackward", "N %d M %d%s", n, m, inPlace ? " in place" : "");
        double[] gate = wide(builder, n * m);
        // The slope of silu is at most 1.1; in s (1 - s) an error of s is multiplied by x.
        Tolerance ofGate = (truth, i) -> Tolerance.FUNCTION_ROOM * (1 + Math.abs(gate[i]))
                * Math.abs(truth.before("dy")[i] * truth.before("up")[i]);
        Tolerance ofUp = (truth, i) -> Tolerance.FUNCTION_ROOM * (1 + Math.abs(gate[i]))
                * Math.abs(truth.before("dy")[i]) * Math.abs(gate[i]) / (1 + Math.exp(-gate[i]));
        if (inPlace) {
            return builder.changed("gate", ofGate, gate, n, m).input("up", n, m).changed("dy", ofUp, n, m)
                    .products("gate", "up", "dy").run((engine, t) -> engine.swiGluBackward(t[0], t[1], t[2], t[0],
                            t[2]));
        }
        return builder.input("gate", gate, n, m).input("up", n, m).input("dy", n, m).output("dGate", ofGate, n, m)
                .output("dUp", ofUp, n, m).products("gate", "up", "dy", "dGate", "dUp")
                .run((engine, t) -> engine.swiGluBackward(t[0], t[1], t[2], t[3], t[4]));
    }
}
