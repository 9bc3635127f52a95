package dev.troupe.engine.fallback;

import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.fallback.loop.LayerNorm;
import dev.troupe.engine.fallback.loop.RmsNorm;

/** Definitions of norms of rows. */
interface FallbackNorms extends Fallback {
    @Override
    default void layerNorm(Tensor residual, Tensor x, Tensor gamma, Tensor beta, double epsilon, Tensor y, Tensor mean,
            Tensor reciprocalDeviation) {
        fallBack(Kernel.LAYER_NORM, host -> {
            if (residual != null) {
                add(residual, x, x);
            }
            LayerNorm.forward(host.read(x), host.read(gamma), host.read(beta), epsilon, host.output(y),
                    host.output(mean), host.output(reciprocalDeviation), x.shape().size(0), x.shape().size(1));
        });
    }

    @Override
    default void layerNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate) {
        fallBack(Kernel.LAYER_NORM_BACKWARD_INPUT,
                host -> LayerNorm.backwardInput(host.read(dy), host.read(x), host.read(gamma), host.read(mean),
                        host.read(reciprocalDeviation), accumulate ? host.changed(dx) : host.output(dx), accumulate,
                        x.shape().size(0), x.shape().size(1)));
    }

    @Override
    default void layerNormBackwardWeight(Tensor dy, Tensor x, Tensor mean, Tensor reciprocalDeviation, Tensor dGamma,
            Tensor dBeta) {
        fallBack(Kernel.LAYER_NORM_BACKWARD_WEIGHT,
                host -> LayerNorm.backwardWeight(host.read(dy), host.read(x), host.read(mean),
                        host.read(reciprocalDeviation), host.changed(dGamma), host.changed(dBeta), x.shape().size(0),
                        x.shape().size(1)));
    }

    @Override
    default void layerNormBackward(Tensor dy, Tensor x, Tensor gamma, Tensor mean, Tensor reciprocalDeviation,
            Tensor dx, boolean accumulate, Tensor dGamma, Tensor dBeta) {
        layerNormBackwardWeight(dy, x, mean, reciprocalDeviation, dGamma, dBeta); // first, as dx may be dy
        layerNormBackwardInput(dy, x, gamma, mean, reciprocalDeviation, dx, accumulate);
    }

    @Override
    default void rmsNorm(Tensor residual, Tensor x, Tensor gamma, double epsilon, Tensor y, Tensor reciprocalRoot) {
        fallBack(Kernel.RMS_NORM, host -> {
            if (residual != null) {
                add(residual, x, x);
            }
            RmsNorm.forward(host.read(x), host.read(gamma), epsilon, host.output(y), host.output(reciprocalRoot));
        });
    }

    @Override
    default void rmsNormBackwardInput(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx,
            boolean accumulate) {
        fallBack(Kernel.RMS_NORM_BACKWARD_INPUT,
                host -> RmsNorm.backwardInput(host.read(dy), host.read(x), host.read(gamma),
                        host.read(reciprocalRoot), accumulate ? host.changed(dx) : host.output(dx), accumulate));
    }

    @Override
    default void rmsNormBackwardWeight(Tensor dy, Tensor x, Tensor reciprocalRoot, Tensor dGamma) {
        fallBack(Kernel.RMS_NORM_BACKWARD_WEIGHT, host -> RmsNorm.backwardWeight(host.read(dy), host.read(x),
                host.read(reciprocalRoot), host.changed(dGamma)));
    }

    @Override
    default void rmsNormBackward(Tensor dy, Tensor x, Tensor gamma, Tensor reciprocalRoot, Tensor dx,
            boolean accumulate, Tensor dGamma) {
        rmsNormBackwardWeight(dy, x, reciprocalRoot, dGamma); // first, as dx may be dy
        rmsNormBackwardInput(dy, x, gamma, reciprocalRoot, dx, accumulate);
    }
}
