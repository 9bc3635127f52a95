package dev.troupe.engine.check;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;

/** The checks of the operands of norms. */
abstract class CheckedNorms extends CheckedAttention {
    CheckedNorms(Engine engine) {
        super(engine);
    }

    @Override
    public final void layerNorm(Tensor residual, Tensor x, Tensor gamma, Tensor beta, double epsilon, Tensor y,
            Tensor mean, Tensor reciprocalDeviation) {
        Operands check = of(Kernel.LAYER_NORM);
        CheckedTensor in = check.matrix("x", x);
        CheckedTensor g = check.vector("gamma", gamma, in.size(1));
        CheckedTensor b = check.vector("beta", beta, in.size(1));
        CheckedTensor out = check.like("y", y, in);
        CheckedTensor centre = check.vector("mean", mean, in.size(0));
        CheckedTensor r = check.vector("reciprocalDeviation", reciprocalDeviation, in.size(0));
        check.apart("y", out, in, g, b);
        check.apart("y", out, centre, r);
        check.apart("mean", centre, in, g, b);
        check.apart("mean", centre, r);
        check.apart("reciprocalDeviation", r, in, g, b);
        CheckedTensor added = residual == null ? null : check.like("residual", residual, in);
        if (added != null) {
            check.apart("x", in, added, g, b);
            check.apart("y", out, added);
        }
        long begun = hook.begins(Kernel.LAYER_NORM);
        engine.layerNorm(added == null ? null : added.own(), in.own(), g.own(), b.own(), epsilon, out.own(),
                centre.own(), r.own());
        hook.ended(Kernel.LAYER_NORM, begun, out);
    }

    @Override
    public final void layerNormBackward(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate, Tensor dGamma, Tensor dBeta) {
        Operands check = of(Kernel.LAYER_NORM_BACKWARD);
        checkInput(check, dy, x, gamma, mean, reciprocalDeviation, dx, accumulate);
        checkWeight(check, dy, x, mean, reciprocalDeviation, dGamma, dBeta);
        CheckedTensor dG = own(dGamma);
        CheckedTensor dB = own(dBeta);
        check.apart("dGamma", dG, own(x), own(dy), own(dx));
        check.apart("dGamma", dG, own(gamma));
        check.apart("dBeta", dB, own(x), own(dy), own(dx));
        check.apart("dBeta", dB, own(gamma));
        long begun = hook.begins(Kernel.LAYER_NORM_BACKWARD);
        engine.layerNormBackward(own(dy).own(), own(x).own(), own(gamma).own(), own(mean).own(),
                own(reciprocalDeviation).own(), own(dx).own(), accumulate, dG.own(), dB.own());
        hook.ended(Kernel.LAYER_NORM_BACKWARD, begun, dx);
    }

    @Override
    public final void layerNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor mean,
            Tensor reciprocalDeviation, Tensor dx, boolean accumulate) {
        checkInput(of(Kernel.LAYER_NORM_BACKWARD_INPUT), dy, x, gamma, mean, reciprocalDeviation, dx, accumulate);
        long begun = hook.begins(Kernel.LAYER_NORM_BACKWARD_INPUT);
        engine.layerNormBackwardInput(own(dy).own(), own(x).own(), own(gamma).own(), own(mean).own(),
                own(reciprocalDeviation).own(), own(dx).own(), accumulate);
        hook.ended(Kernel.LAYER_NORM_BACKWARD_INPUT, begun, dx);
    }

    @Override
    public final void layerNormBackwardWeight(Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation,
            Tensor dGamma, Tensor dBeta) {
        checkWeight(of(Kernel.LAYER_NORM_BACKWARD_WEIGHT), dy, x, mean, reciprocalDeviation, dGamma, dBeta);
        long begun = hook.begins(Kernel.LAYER_NORM_BACKWARD_WEIGHT);
        engine.layerNormBackwardWeight(own(dy).own(), own(x).own(), own(mean).own(), own(reciprocalDeviation).own(),
                own(dGamma).own(), own(dBeta).own());
        hook.ended(Kernel.LAYER_NORM_BACKWARD_WEIGHT, begun, dGamma);
    }

    private static void checkInput(Operands check, Tensor dy, Tensor x, Tensor gamma, Tensor mean,
            Tensor reciprocalDeviation, Tensor dx, boolean accumulate) {
        CheckedTensor in = check.matrix("x", x);
        CheckedTensor dOut = check.like("dy", dy, in);
        CheckedTensor g = check.vector("gamma", gamma, in.size(1));
        CheckedTensor centre = check.vector("mean", mean, in.size(0));
        CheckedTensor r = check.vector("reciprocalDeviation", reciprocalDeviation, in.size(0));
        CheckedTensor dIn = check.like("dx", dx, in);
        check.apart("dx", dIn, in, g);
        check.apart("dx", dIn, centre, r);
        if (accumulate) {
            check.apart("dx", dIn, dOut);
        }
    }

    private static void checkWeight(Operands check, Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation,
            Tensor dGamma, Tensor dBeta) {
        CheckedTensor in = check.matrix("x", x);
        check.like("dy", dy, in);
        CheckedTensor centre = check.vector("mean", mean, in.size(0));
        CheckedTensor r = check.vector("reciprocalDeviation", reciprocalDeviation, in.size(0));
        CheckedTensor dG = check.vector("dGamma", dGamma, in.size(1));
        CheckedTensor dB = check.vector("dBeta", dBeta, in.size(1));
        check.apart("dGamma", dG, centre, r, dB);
        check.apart("dBeta", dB, centre, r);
    }

    @Override
    public final void rmsNorm(Tensor residual, Tensor x, Tensor gamma, double epsilon, Tensor y,
            Tensor reciprocalRoot) {
        Operands check = of(Kernel.RMS_NORM);
        CheckedTensor in = check.matrix("x", x);
        CheckedTensor g = check.gammaOfNeighbours("gamma", gamma, in);
        CheckedTensor out = check.like("y", y, in);
        CheckedTensor r = check.vector("reciprocalRoot", reciprocalRoot, norms(in, g));
        check.apart("y", out, in, g, r);
        check.apart("reciprocalRoot", r, in, g);
        CheckedTensor passing = residual == null ? null : check.like("residual", residual, in);
        if (passing != null) {
            check.apart("x", in, passing, g);
            check.apart("y", out, passing);
            check.apart("reciprocalRoot", r, passing);
        }
        long begun = hook.begins(Kernel.RMS_NORM);
        engine.rmsNorm(passing == null ? null : passing.own(), in.own(), g.own(), epsilon, out.own(), r.own());
        hook.ended(Kernel.RMS_NORM, begun, out);
    }

    @Override
    public final void rmsNormBackward(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx,
            boolean accumulate, Tensor dGamma) {
        Operands check = of(Kernel.RMS_NORM_BACKWARD);
        checkInput(check, dy, x, gamma, reciprocalRoot, dx, accumulate);
        CheckedTensor dG = check.like("dGamma", dGamma, own(gamma));
        check.apart("dGamma", dG, own(x), own(dy), own(dx));
        check.apart("dGamma", dG, own(gamma), own(reciprocalRoot));
        long begun = hook.begins(Kernel.RMS_NORM_BACKWARD);
        engine.rmsNormBackward(own(dy).own(), own(x).own(), own(gamma).own(), own(reciprocalRoot).own(),
                own(dx).own(), accumulate, dG.own());
        hook.ended(Kernel.RMS_NORM_BACKWARD, begun, dx);
    }

    @Override
    public final void rmsNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx,
            boolean accumulate) {
        checkInput(of(Kernel.RMS_NORM_BACKWARD_INPUT), dy, x, gamma, reciprocalRoot, dx, accumulate);
        long begun = hook.begins(Kernel.RMS_NORM_BACKWARD_INPUT);
        engine.rmsNormBackwardInput(own(dy).own(), own(x).own(), own(gamma).own(), own(reciprocalRoot).own(),
                own(dx).own(), accumulate);
        hook.ended(Kernel.RMS_NORM_BACKWARD_INPUT, begun, dx);
    }

    @Override
    public final void rmsNormBackwardWeight(Tensor dy, Tensor x, Tensor reciprocalRoot, Tensor dGamma) {
        Operands check = of(Kernel.RMS_NORM_BACKWARD_WEIGHT);
        CheckedTensor in = check.matrix("x", x);
        CheckedTensor dOut = check.like("dy", dy, in);
        CheckedTensor dG = check.gammaOfNeighbours("dGamma", dGamma, in);
        CheckedTensor r = check.vector("reciprocalRoot", reciprocalRoot, norms(in, dG));
        check.apart("dGamma", dG, in, dOut, r);
        long begun = hook.begins(Kernel.RMS_NORM_BACKWARD_WEIGHT);
        engine.rmsNormBackwardWeight(dOut.own(), in.own(), r.own(), dG.own());
        hook.ended(Kernel.RMS_NORM_BACKWARD_WEIGHT, begun, dG);
    }

    private static void checkInput(Operands check, Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx,
            boolean accumulate) {
        CheckedTensor in = check.matrix("x", x);
        CheckedTensor dOut = check.like("dy", dy, in);
        CheckedTensor g = check.gammaOfNeighbours("gamma", gamma, in);
        CheckedTensor r = check.vector("reciprocalRoot", reciprocalRoot, norms(in, g));
        CheckedTensor dIn = check.like("dx", dx, in);
        check.apart("dx", dIn, in, g, r);
        if (accumulate) {
            check.apart("dx", dIn, dOut);
        }
    }

    /** The number of norms in a matrix, each over the size of gamma. */
    private static int norms(CheckedTensor x, CheckedTensor gamma) {
        return Math.toIntExact(x.shape().elementCount() / gamma.size(0));
    }

    static CheckedTensor own(Tensor checked) {
        return (CheckedTensor) checked;
    }
}
