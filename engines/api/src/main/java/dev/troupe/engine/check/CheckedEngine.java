package dev.troupe.engine.check;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.Dropout;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;

/**
 * An engine that checks operands, then calls another engine. A call against the contract of {@link Engine} is refused before
 * anything is written, with the same message for all engines.
 *
 * <p>Thread rule: as of {@link Engine}; tensors may also be allocated and closed on any thread.
 */
public class CheckedEngine extends CheckedRouting {
    /** A checked engine over another, which is closed with it and which nobody else may call. */
    public CheckedEngine(Engine engine) {
        super(engine);
    }

    @Override
    public final void fill(Tensor tensor, double value) {
        CheckedTensor own = of(Kernel.FILL).floats("tensor", tensor);
        long begun = hook.begins(Kernel.FILL);
        engine.fill(own.own(), value);
        hook.ended(Kernel.FILL, begun, own);
    }

    @Override
    public final void copy(Tensor source, Tensor target) {
        Operands check = of(Kernel.COPY);
        CheckedTensor from = check.any("source", source);
        CheckedTensor to = check.like("target", target, from);
        to.noteIds(from);
        long begun = hook.begins(Kernel.COPY);
        engine.copy(from.own(), to.own());
        hook.ended(Kernel.COPY, begun, to);
    }

    @Override
    public final void cast(Tensor source, Tensor target) {
        Operands check = of(Kernel.CAST);
        CheckedTensor from = check.either("source", source);
        CheckedTensor to = check.ofShape("target", target, from);
        long begun = hook.begins(Kernel.CAST);
        engine.cast(from.own(), to.own());
        hook.ended(Kernel.CAST, begun, to);
    }

    @Override
    public final void add(Tensor left, Tensor right, Tensor sum) {
        Operands check = of(Kernel.ADD);
        CheckedTensor a = check.either("left", left);
        CheckedTensor b = check.like("right", right, a);
        CheckedTensor out = check.like("sum", sum, a);
        long begun = hook.begins(Kernel.ADD);
        engine.add(a.own(), b.own(), out.own());
        hook.ended(Kernel.ADD, begun, out);
    }

    @Override
    public final void scale(Tensor tensor, double factor) {
        CheckedTensor own = of(Kernel.SCALE).floats("tensor", tensor);
        long begun = hook.begins(Kernel.SCALE);
        engine.scale(own.own(), factor);
        hook.ended(Kernel.SCALE, begun, own);
    }

    @Override
    public final void sum(Tensor tensor, Tensor sums, int index) {
        Operands check = of(Kernel.SUM);
        CheckedTensor own = check.floats("tensor", tensor);
        CheckedTensor out = check.sums(sums, index, own);
        long begun = hook.begins(Kernel.SUM);
        engine.sum(own.own(), out.own(), index);
        hook.ended(Kernel.SUM, begun, out);
    }

    @Override
    public final void squaredSum(Tensor tensor, Tensor sums, int index) {
        Operands check = of(Kernel.SQUARED_SUM);
        CheckedTensor own = check.floats("tensor", tensor);
        CheckedTensor out = check.sums(sums, index, own);
        long begun = hook.begins(Kernel.SQUARED_SUM);
        engine.squaredSum(own.own(), out.own(), index);
        hook.ended(Kernel.SQUARED_SUM, begun, out);
    }

    @Override
    public final void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate) {
        Operands check = of(Kernel.MATMUL);
        CheckedTensor a = check.matrix("left", left);
        int k = a.size(transposeLeft ? 0 : 1);
        CheckedTensor b = check.matrix("right", right);
        if (b.size(transposeRight ? 1 : 0) != k) {
            throw check.misfit("right", "must have " + k + (transposeRight ? " columns" : " rows"), b);
        }
        CheckedTensor out = check.product(product, accumulate, a.size(transposeLeft ? 1 : 0),
                b.size(transposeRight ? 0 : 1));
        check.apart("product", out, a, b);
        long begun = hook.begins(Kernel.MATMUL);
        engine.matmul(a.own(), transposeLeft, b.own(), transposeRight, out.own(), accumulate);
        hook.multiplied(Kernel.MATMUL, out, k);
        hook.ended(Kernel.MATMUL, begun, out);
    }

    @Override
    public final void linear(Tensor x, Tensor weight, boolean transposeWeight, Tensor bias, Tensor y) {
        Operands check = of(Kernel.LINEAR);
        CheckedTensor in = check.matrix("x", x);
        CheckedTensor w = check.weight(weight, transposeWeight, in);
        int outputs = w.size(transposeWeight ? 0 : 1);
        CheckedTensor b = check.vector("bias", bias, outputs);
        CheckedTensor out = check.matrix("y", y, in.size(0), outputs);
        check.apart("y", out, in, w, b);
        long begun = hook.begins(Kernel.LINEAR);
        engine.linear(in.own(), w.own(), transposeWeight, b.own(), out.own());
        hook.multiplied(Kernel.LINEAR, out, in.size(1));
        hook.ended(Kernel.LINEAR, begun, out);
    }

    @Override
    public final void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y) {
        Operands check = of(Kernel.LINEAR_GELU);
        CheckedTensor in = check.matrix("x", x);
        CheckedTensor w = check.weight(weight, false, in);
        CheckedTensor b = check.vector("bias", bias, w.size(1));
        CheckedTensor pre = check.matrix("preActivation", preActivation, in.size(0), w.size(1));
        CheckedTensor out = check.like("y", y, pre);
        check.apart("preActivation", pre, in, w, b);
        check.apart("y", out, in, w, b);
        check.apart("y", out, pre);
        long begun = hook.begins(Kernel.LINEAR_GELU);
        engine.linearGelu(in.own(), w.own(), b.own(), pre.own(), out.own());
        hook.multiplied(Kernel.LINEAR_GELU, out, in.size(1));
        hook.ended(Kernel.LINEAR_GELU, begun, out);
    }

    @Override
    public final void gelu(Tensor preActivation, Tensor y) {
        Operands check = of(Kernel.GELU);
        CheckedTensor pre = check.matrix("preActivation", preActivation);
        CheckedTensor out = check.like("y", y, pre);
        long begun = hook.begins(Kernel.GELU);
        engine.gelu(pre.own(), out.own());
        hook.ended(Kernel.GELU, begun, out);
    }

    @Override
    public final void geluBackward(Tensor preActivation, Tensor dy, Tensor dx) {
        Operands check = of(Kernel.GELU_BACKWARD);
        CheckedTensor pre = check.products("preActivation", preActivation);
        CheckedTensor dOut = check.like("dy", dy, pre);
        CheckedTensor dIn = check.like("dx", dx, pre);
        check.apart("dx", dIn, pre);
        long begun = hook.begins(Kernel.GELU_BACKWARD);
        engine.geluBackward(pre.own(), dOut.own(), dIn.own());
        hook.ended(Kernel.GELU_BACKWARD, begun, dIn);
    }

    @Override
    public final void swiGlu(Tensor gate, Tensor up, Tensor y) {
        Operands check = of(Kernel.SWI_GLU);
        CheckedTensor in = check.matrix("gate", gate);
        CheckedTensor factor = check.like("up", up, in);
        CheckedTensor out = check.like("y", y, in);
        check.apart("y", out, in, factor);
        long begun = hook.begins(Kernel.SWI_GLU);
        engine.swiGlu(in.own(), factor.own(), out.own());
        hook.ended(Kernel.SWI_GLU, begun, out);
    }

    @Override
    public final void swiGluBackward(Tensor gate, Tensor up, Tensor dy, Tensor dGate, Tensor dUp) {
        Operands check = of(Kernel.SWI_GLU_BACKWARD);
        CheckedTensor in = check.matrix("gate", gate);
        CheckedTensor factor = check.like("up", up, in);
        CheckedTensor dOut = check.like("dy", dy, in);
        CheckedTensor dIn = check.like("dGate", dGate, in);
        CheckedTensor dFactor = check.like("dUp", dUp, in);
        check.apart("dGate", dIn, factor, dOut, dFactor);
        check.apart("dUp", dFactor, in);
        long begun = hook.begins(Kernel.SWI_GLU_BACKWARD);
        engine.swiGluBackward(in.own(), factor.own(), dOut.own(), dIn.own(), dFactor.own());
        hook.ended(Kernel.SWI_GLU_BACKWARD, begun, dIn);
    }

    @Override
    public final void biasBackward(Tensor dy, Tensor dBias) {
        Operands check = of(Kernel.BIAS_BACKWARD);
        CheckedTensor dOut = check.matrix("dy", dy);
        CheckedTensor dB = check.vector("dBias", dBias, dOut.size(1));
        long begun = hook.begins(Kernel.BIAS_BACKWARD);
        engine.biasBackward(dOut.own(), dB.own());
        hook.ended(Kernel.BIAS_BACKWARD, begun, dB);
    }

    @Override
    public final void dropout(Tensor x, Dropout dropout, Tensor y) {
        Operands check = of(Kernel.DROPOUT);
        CheckedTensor in = check.matrix("x", x);
        CheckedTensor out = check.like("y", y, in);
        long begun = hook.begins(Kernel.DROPOUT);
        engine.dropout(in.own(), dropout, out.own());
        hook.ended(Kernel.DROPOUT, begun, out);
    }

    @Override
    public final void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update,
            Tensor operands) {
        Operands check = of(Kernel.ADAM_W);
        CheckedTensor w = check.floats("weights", weights);
        CheckedTensor g = check.like("gradients", gradients, w);
        CheckedTensor first = check.like("firstMoment", firstMoment, w);
        CheckedTensor second = check.like("secondMoment", secondMoment, w);
        check.apart("weights", w, g, first, second);
        check.apart("firstMoment", first, g, second);
        check.apart("secondMoment", second, g);
        CheckedTensor rounded = operands(check, operands, w, g, first, second);
        long begun = hook.begins(Kernel.ADAM_W);
        engine.adamW(w.own(), g.own(), first.own(), second.own(), update, rounded == null ? null : rounded.own());
        hook.ended(Kernel.ADAM_W, begun, w);
    }

    @Override
    public final void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay,
            double gradientScale, Tensor operands) {
        Operands check = of(Kernel.SGD);
        CheckedTensor w = check.floats("weights", weights);
        CheckedTensor g = check.like("gradients", gradients, w);
        check.apart("weights", w, g);
        CheckedTensor rounded = operands(check, operands, w, g);
        long begun = hook.begins(Kernel.SGD);
        engine.sgd(w.own(), g.own(), learningRate, weightDecay, gradientScale, rounded == null ? null : rounded.own());
        hook.ended(Kernel.SGD, begun, w);
    }

    @Override
    public final void sgdMomentum(Tensor weights, Tensor gradients, Tensor velocity, Momentum update, Tensor operands) {
        Operands check = of(Kernel.SGD_MOMENTUM);
        CheckedTensor w = check.floats("weights", weights);
        CheckedTensor g = check.like("gradients", gradients, w);
        CheckedTensor v = check.like("velocity", velocity, w);
        check.apart("weights", w, g, v);
        check.apart("velocity", v, g);
        CheckedTensor rounded = operands(check, operands, w, g, v);
        long begun = hook.begins(Kernel.SGD_MOMENTUM);
        engine.sgdMomentum(w.own(), g.own(), v.own(), update, rounded == null ? null : rounded.own());
        hook.ended(Kernel.SGD_MOMENTUM, begun, w);
    }

    /** The operands that an update writes; null for null. */
    private static CheckedTensor operands(Operands check, Tensor operands, CheckedTensor weights,
            CheckedTensor... others) {
        if (operands == null) {
            return null;
        }
        CheckedTensor own = check.productsLike("operands", operands, weights);
        check.apart("operands", own, weights);
        for (CheckedTensor other : others) {
            check.apart("operands", own, other);
        }
        return own;
    }
}
