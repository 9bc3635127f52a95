package dev.troupe.engine.nd4j;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.OptimizerKernels.Momentum;
import dev.troupe.engine.nd4j.Scratch.Slot;
import org.nd4j.linalg.api.ndarray.INDArray;

/**
 * Optimizer steps as PyTorch computes them. ND4J's Adam computes {@code 1 - beta} in the type of the elements, with an
 * error of a hundred thousandth for 0.999 in float32; so this one is composed. Gradients become zero.
 */
final class Optimizers {
    /** Elements of an update at a time, so that scratch memory does not grow with the tensor. */
    private static final long BLOCK = 1 << 20;

    private final Operations operations;
    private final Scratch scratch;

    Optimizers(Operations operations, Scratch scratch) {
        this.operations = operations;
        this.scratch = scratch;
    }

    /**
     * {@code w -= rate / c1 m / (sqrt(v / c2) + epsilon)} after {@code w *= 1 - rate decay}, with {@code c = 1 -
     * beta^step}.
     */
    void adamW(Nd4jTensor weights, Nd4jTensor gradients, Nd4jTensor firstMoment, Nd4jTensor secondMoment,
            AdamW update) {
        long length = weights.shape().elementCount();
        for (long from = 0; from < length; from += BLOCK) {
            long count = Math.min(BLOCK, length - from);
            adamW(weights.part(from, count), gradients.part(from, count), firstMoment.part(from, count),
                    secondMoment.part(from, count), update);
        }
    }

    private void adamW(INDArray weights, INDArray gradients, INDArray firstMoment, INDArray secondMoment,
            AdamW update) {
        long length = weights.length();
        double correction1 = 1 - Math.pow(update.beta1(), update.step());
        double correction2 = 1 - Math.pow(update.beta2(), update.step());
        INDArray scaled = scratch.slot(Slot.FIRST, length).vector(length);
        operations.copy(gradients, scaled);
        operations.fill(0, gradients);
        operations.scale(update.gradientScale(), scaled);
        operations.scale(update.beta1(), firstMoment);
        operations.addScaled(1 - update.beta1(), scaled, firstMoment);
        operations.square(scaled, scaled);
        operations.scale(update.beta2(), secondMoment);
        operations.addScaled(1 - update.beta2(), scaled, secondMoment);

        INDArray change = scratch.slot(Slot.SECOND, length).vector(length);
        operations.root(secondMoment, change);
        operations.scale(1 / Math.sqrt(correction2), change);
        operations.add(change, scratch.scalar(update.epsilon()), change);
        operations.divide(firstMoment, change, change);
        operations.scale(1 - update.learningRate() * update.weightDecay(), weights);
        operations.addScaled(-update.learningRate() / correction1, change, weights);
    }

    void sgd(INDArray weights, INDArray gradients, double learningRate, double weightDecay, double gradientScale) {
        operations.scale(1 - learningRate * weightDecay, weights);
        operations.addScaled(-learningRate * gradientScale, gradients, weights);
        operations.fill(0, gradients);
    }

    /** {@code v = momentum v + g}, and {@code w -= rate v}, or {@code w -= rate (g + momentum v)}, with the decay in g. */
    void sgdMomentum(Nd4jTensor weights, Nd4jTensor gradients, Nd4jTensor velocity, Momentum update) {
        long length = weights.shape().elementCount();
        for (long from = 0; from < length; from += BLOCK) {
            long count = Math.min(BLOCK, length - from);
            sgdMomentum(weights.part(from, count), gradients.part(from, count), velocity.part(from, count), update);
        }
    }

    private void sgdMomentum(INDArray weights, INDArray gradients, INDArray velocity, Momentum update) {
        long length = weights.length();
        INDArray step = scratch.slot(Slot.FIRST, length).vector(length);
        operations.copy(gradients, step);
        operations.fill(0, gradients);
        operations.scale(update.gradientScale(), step);
        operations.addScaled(update.weightDecay(), weights, step);
        operations.scale(update.momentum(), velocity);
        operations.addScaled(1, step, velocity);
        if (update.nesterov()) {
            operations.addScaled(update.momentum(), velocity, step);
        }
        operations.addScaled(-update.learningRate(), update.nesterov() ? step : velocity, weights);
    }
}
