package dev.troupe.engine.fallback.loop;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.OptimizerKernels.Momentum;

/** Optimizer steps, element by element, in the order of operations of {@code torch.optim}; gradients become zero. */
public final class Optimizers {
    private Optimizers() {
    }

    public static void adamW(double[] weights, double[] gradients, double[] first, double[] second, AdamW update) {
        double firstCorrection = 1 - StrictMath.pow(update.beta1(), update.step());
        double secondCorrectionRoot = Math.sqrt(1 - StrictMath.pow(update.beta2(), update.step()));
        double stepSize = update.learningRate() / firstCorrection;
        double keep = 1 - update.learningRate() * update.weightDecay();
        for (int i = 0; i < weights.length; i++) {
            double gradient = update.gradientScale() * gradients[i];
            gradients[i] = 0;
            first[i] += (1 - update.beta1()) * (gradient - first[i]);
            second[i] = update.beta2() * second[i] + (1 - update.beta2()) * gradient * gradient;
            double denominator = Math.sqrt(second[i]) / secondCorrectionRoot + update.epsilon();
            weights[i] = weights[i] * keep - stepSize * (first[i] / denominator);
        }
    }

    public static void sgd(double[] weights, double[] gradients, double learningRate, double weightDecay,
            double gradientScale) {
        for (int i = 0; i < weights.length; i++) {
            weights[i] -= learningRate * (gradientScale * gradients[i] + weightDecay * weights[i]);
            gradients[i] = 0;
        }
    }

    public static void sgdMomentum(double[] weights, double[] gradients, double[] velocity, Momentum update) {
        for (int i = 0; i < weights.length; i++) {
            double gradient = update.gradientScale() * gradients[i] + update.weightDecay() * weights[i];
            velocity[i] = update.momentum() * velocity[i] + gradient;
            double step = update.nesterov() ? gradient + update.momentum() * velocity[i] : velocity[i];
            weights[i] -= update.learningRate() * step;
            gradients[i] = 0;
        }
    }
}
