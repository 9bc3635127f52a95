package dev.troupe.fault;

import dev.troupe.config.fault.FaultKind;
import dev.troupe.engine.Engine;
import dev.troupe.engine.forward.ForwardingEngine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;

/** An engine in whose products and norms a bit may flip. */
public final class FlippingEngine extends ForwardingEngine {
    private final BitFlips flips;

    /**
     * @param engine
     *            computes; closed with this one
     * @param flips
     *            told of each result
     */
    public FlippingEngine(Engine engine, BitFlips flips) {
        super(engine);
        this.flips = flips;
    }

    @Override
    protected long begins(Kernel kernel) {
        return 0;
    }

    @Override
    protected void ends(Kernel kernel, long begun) {
        // each result is told with its tensor
    }

    @Override
    public void matmul(Tensor left, boolean transposeLeft, Tensor right, boolean transposeRight, Tensor product,
            boolean accumulate) {
        super.matmul(left, transposeLeft, right, transposeRight, product, accumulate);
        flips.made(FaultKind.FLIP_BIT, this, product);
    }

    @Override
    public void linear(Tensor x, Tensor weight, boolean transposeWeight, Tensor bias, Tensor y) {
        super.linear(x, weight, transposeWeight, bias, y);
        flips.made(FaultKind.FLIP_BIT, this, y);
    }

    @Override
    public void linearGelu(Tensor x, Tensor weight, Tensor bias, Tensor preActivation, Tensor y) {
        super.linearGelu(x, weight, bias, preActivation, y);
        flips.made(FaultKind.FLIP_BIT, this, y);
    }

    @Override
    public void layerNorm(Tensor residual, Tensor x, Tensor gamma, Tensor beta, double epsilon, Tensor y, Tensor mean,
            Tensor reciprocalDeviation) {
        super.layerNorm(residual, x, gamma, beta, epsilon, y, mean, reciprocalDeviation);
        flips.made(FaultKind.FLIP_NORM_BIT, this, y);
    }

    @Override
    public void layerNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate) {
        super.layerNormBackwardInput(dy, x, gamma, mean, reciprocalDeviation, dx, accumulate);
        flips.made(FaultKind.FLIP_NORM_BIT, this, dx);
    }

    @Override
    public void layerNormBackward(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate, Tensor dGamma, Tensor dBeta) {
        super.layerNormBackward(dy, x, gamma, mean, reciprocalDeviation, dx, accumulate, dGamma, dBeta);
        flips.made(FaultKind.FLIP_NORM_BIT, this, dx);
    }

    @Override
    public void rmsNorm(Tensor residual, Tensor x, Tensor gamma, double epsilon, Tensor y, Tensor reciprocalRoot) {
        super.rmsNorm(residual, x, gamma, epsilon, y, reciprocalRoot);
        flips.made(FaultKind.FLIP_NORM_BIT, this, y);
    }

    @Override
    public void rmsNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx,
            boolean accumulate) {
        super.rmsNormBackwardInput(dy, x, gamma, reciprocalRoot, dx, accumulate);
        flips.made(FaultKind.FLIP_NORM_BIT, this, dx);
    }

    @Override
    public void rmsNormBackward(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx,
            boolean accumulate, Tensor dGamma) {
        super.rmsNormBackward(dy, x, gamma, reciprocalRoot, dx, accumulate, dGamma);
        flips.made(FaultKind.FLIP_NORM_BIT, this, dx);
    }
}
