package dev.troupe.engine.conformance;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.OptimizerKernels.Momentum;
import dev.troupe.engine.Shape;
import java.util.ArrayList;
import java.util.List;

/** The conformance cases of fills, copies, casts, additions, scaling, and optimizer steps, on tensors of several ranks. */
final class ElementwiseCases {
    private static final int[][] SHAPES = {{1}, {17}, {97, 1}, {1, 97}, {3, 5, 7}, {2, 3, 5, 17},
            {97, 33}};

    /** Gradients are exactly zero after an update, with either sign. */
    private static final Tolerance NONE_LEFT = (truth, i) -> 0;

    private ElementwiseCases() {
    }

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (int[] sizes : SHAPES) {
            String shape = Shape.of(sizes).toString();
            cases.add(KernelCase.of("fill", shape).output("tensor", (truth, i) -> 1, sizes)
                    .run((engine, t) -> engine.fill(t[0], -0.1)));
            cases.add(KernelCase.of("copy", shape).input("source", sizes).output("target", (truth, i) -> 0, sizes)
                    .run((engine, t) -> engine.copy(t[0], t[1])));
            cases.add(KernelCase.of("scale", shape).changed("tensor", Tolerance.ofSum("tensor", 1), sizes)
                    .run((engine, t) -> engine.scale(t[0], 0.3)));
            cases.add(KernelCase.of("add", shape).input("left", sizes).input("right", sizes)
                    .output("sum", Tolerance.ofSum("sum", 2), sizes)
                    .run((engine, t) -> engine.add(t[0], t[1], t[2])));
            cases.add(KernelCase.of("add", shape + " of products").input("left", sizes).input("right", sizes)
                    .output("sum", Tolerance.ofSum("sum", 2), sizes).products("left", "right", "sum")
                    .run((engine, t) -> engine.add(t[0], t[1], t[2])));
            cases.add(KernelCase.of("copy", shape + " of products").input("source", sizes)
                    .output("target", (truth, i) -> 0, sizes).products("source", "target")
                    .run((engine, t) -> engine.copy(t[0], t[1])));
            cases.add(KernelCase.of("add", shape + " into left").changed("left", Tolerance.ofSum("left", 2), sizes)
                    .input("right", sizes).run((engine, t) -> engine.add(t[0], t[1], t[0])));
            cases.add(KernelCase.of("add", shape + " into right").input("left", sizes)
                    .changed("right", Tolerance.ofSum("right", 2), sizes)
                    .run((engine, t) -> engine.add(t[0], t[1], t[1])));
            cases.add(KernelCase.of("cast", shape + " to products").input("source", sizes)
                    .output("target", (truth, i) -> 0, sizes).products("target").ofEitherType()
                    .run((engine, t) -> engine.cast(t[0], t[1])));
            cases.add(KernelCase.of("cast", shape + " to floats").input("source", sizes)
                    .output("target", (truth, i) -> 0, sizes).products("source").ofEitherType()
                    .run((engine, t) -> engine.cast(t[0], t[1])));
            cases.add(sgd(shape, 0.0, false, sizes));
            cases.add(sgd(shape, 0.1, false, sizes));
            cases.add(sgd(shape, 0.1, true, sizes));
            cases.add(momentum(shape, new Momentum(0.1, 0.9, false, 0.1, 0.5), false, sizes));
            cases.add(momentum(shape, new Momentum(0.1, 0.95, true, 0.1, 0.5), false, sizes));
            cases.add(momentum(shape, new Momentum(0.1, 0.95, true, 0, 1), true, sizes));
            for (long step : new long[]{1, 2, 1000}) {
                cases.add(adamW(shape, new AdamW(1e-2, 0.9, 0.999, 1e-8, 0.1, step, 0.5), false, sizes));
                cases.add(adamW(shape, new AdamW(1e-2, 0.9, 0.95, 1e-8, 0.0, step, 1.0), true, sizes));
            }
        }
        return cases;
    }

    /** Updates that also write a cast of the weights. */
    static List<JoinedConformance.Joined> joined() {
        List<JoinedConformance.Joined> cases = new ArrayList<>();
        for (int[] sizes : SHAPES) {
            String shape = Shape.of(sizes).toString();
            AdamW update = new AdamW(1e-2, 0.9, 0.95, 1e-8, 0.1, 2, 0.5);
            Momentum momentum = new Momentum(0.1, 0.95, true, 0.1, 0.5);
            cases.add(new JoinedConformance.Joined(adamW(shape, update, true, sizes), (engine, t) -> {
                engine.adamW(t[0], t[1], t[2], t[3], update);
                engine.cast(t[0], t[4]);
            }));
            cases.add(new JoinedConformance.Joined(sgd(shape, 0.1, true, sizes), (engine, t) -> {
                engine.sgd(t[0], t[1], 0.1, 0.1, 0.5);
                engine.cast(t[0], t[2]);
            }));
            cases.add(new JoinedConformance.Joined(momentum(shape, momentum, true, sizes), (engine, t) -> {
                engine.sgdMomentum(t[0], t[1], t[2], momentum);
                engine.cast(t[0], t[3]);
            }));
        }
        return cases;
    }

    /** Adds the products' operands as the last operand if the update writes them. */
    private static KernelCase.Builder operands(KernelCase.Builder builder, boolean writesOperands, Tolerance tolerance,
            int... sizes) {
        return writesOperands ? builder.output("operands", tolerance, sizes).products("operands") : builder;
    }

    private static KernelCase sgd(String shape, double weightDecay, boolean writesOperands, int... sizes) {
        // A bound on every term: magnitudes alone, and both terms added to the weight.
        Tolerance tolerance = (truth, i) -> Tolerance.ofTerms(3)
                * (Math.abs(truth.before("weights")[i]) + Math.abs(truth.before("gradients")[i]));
        KernelCase.Builder builder = KernelCase
                .of("sgd", "%s weightDecay %s%s", shape, weightDecay, writesOperands ? " with operands" : "")
                .changed("weights", tolerance, sizes).changed("gradients", NONE_LEFT, sizes);
        return operands(builder, writesOperands, tolerance, sizes).run((engine, t) -> engine.sgd(t[0], t[1], 0.1,
                weightDecay, 0.5, writesOperands ? t[2] : null));
    }

    private static KernelCase momentum(String shape, Momentum update, boolean writesOperands, int... sizes) {
        // Every factor is at most 1: no term is larger than its operand.
        Tolerance velocity = (truth, i) -> Tolerance.ofTerms(3) * terms(truth, i);
        Tolerance weights = (truth, i) -> Tolerance.ofTerms(6) * terms(truth, i);
        KernelCase.Builder builder = KernelCase.of("sgdMomentum", "%s momentum %s nesterov %s weightDecay %s%s", shape,
                update.momentum(), update.nesterov(), update.weightDecay(), writesOperands ? " with operands" : "")
                .changed("weights", weights, sizes).changed("gradients", NONE_LEFT, sizes)
                .changed("velocity", velocity, sizes);
        return operands(builder, writesOperands, weights, sizes).run((engine, t) -> engine.sgdMomentum(t[0], t[1], t[2],
                update, writesOperands ? t[3] : null));
    }

    private static double terms(Truth truth, int i) {
        return Math.abs(truth.before("weights")[i]) + Math.abs(truth.before("gradients")[i])
                + Math.abs(truth.before("velocity")[i]);
    }

    private static KernelCase adamW(String shape, AdamW update, boolean writesOperands, int... sizes) {
        KernelCase.Builder builder = KernelCase.of("adamW", "%s step %d beta2 %s weightDecay %s%s", shape,
                update.step(),
                update.beta2(), update.weightDecay(), writesOperands ? " with operands" : "");
        int count = (int) Shape.of(sizes).elementCount();
        double[] squares = builder.gaussian(count);
        for (int i = 0; i < count; i++) {
            squares[i] = (float) (squares[i] * squares[i]);
        }
        Tolerance first = (truth, i) -> Tolerance.ofTerms(3) * firstTerms(truth, i);
        Tolerance second = (truth, i) -> Tolerance.ofTerms(3) * truth.after("secondMoment")[i];
        // The update is a quotient; its relative error is the error of the first moment, in which terms may cancel.
        Tolerance weights = (truth, i) -> Tolerance.ofTerms(8)
                * (Math.abs(truth.before("weights")[i]) + largestUpdate(truth, i, update));
        builder.changed("weights", weights, sizes).changed("gradients", NONE_LEFT, sizes)
                .changed("firstMoment", first, sizes).changed("secondMoment", second, squares, sizes);
        return operands(builder, writesOperands, weights, sizes).run((engine, t) -> engine.adamW(t[0], t[1], t[2], t[3],
                update, writesOperands ? t[4] : null));
    }

    private static double firstTerms(Truth truth, int i) {
        return Math.abs(truth.before("firstMoment")[i]) + Math.abs(truth.before("gradients")[i]);
    }

    private static double largestUpdate(Truth truth, int i, AdamW update) {
        double stepSize = update.learningRate() / (1 - Math.pow(update.beta1(), update.step()));
        double correction = 1 - Math.pow(update.beta2(), update.step());
        double denominator = Math.sqrt(truth.after("secondMoment")[i] / correction) + update.epsilon();
        return stepSize * firstTerms(truth, i) / denominator;
    }
}
