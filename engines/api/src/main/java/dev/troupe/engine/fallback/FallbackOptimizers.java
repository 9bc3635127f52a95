package dev.troupe.engine.fallback;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.fallback.loop.Optimizers;

/** Definitions of updates of weights by their gradients. */
interface FallbackOptimizers extends Fallback {
    @Override
    default void adamW(Tensor weights, Tensor gradients, Tensor firstMoment, Tensor secondMoment, AdamW update,
            Tensor operands) {
        fallBack(Kernel.ADAM_W, host -> {
            Optimizers.adamW(host.changed(weights), host.changed(gradients), host.changed(firstMoment),
                    host.changed(secondMoment), update);
            castTo(operands, weights, host);
        });
    }

    @Override
    default void sgd(Tensor weights, Tensor gradients, double learningRate, double weightDecay, double gradientScale,
            Tensor operands) {
        fallBack(Kernel.SGD, host -> {
            Optimizers.sgd(host.changed(weights), host.changed(gradients), learningRate, weightDecay, gradientScale);
            castTo(operands, weights, host);
        });
    }

    @Override
    default void sgdMomentum(Tensor weights, Tensor gradients, Tensor velocity, Momentum update, Tensor operands) {
        fallBack(Kernel.SGD_MOMENTUM, host -> {
            Optimizers.sgdMomentum(host.changed(weights), host.changed(gradients), host.changed(velocity), update);
            castTo(operands, weights, host);
        });
    }

    /** Casts the stored weights, so that an element is rounded as the cast of its weight is. */
    private void castTo(Tensor operands, Tensor weights, HostOperands host) {
        if (operands != null) {
            host.store();
            cast(weights, operands);
        }
    }
}
