package dev.troupe.engine.cpu.kernel;

import dev.troupe.engine.AdamW;
import dev.troupe.engine.OptimizerKernels.Momentum;
import dev.troupe.engine.cpu.loop.Lanes;
import jdk.incubator.vector.FloatVector;

/** Optimizer steps in one pass over memory; gradients become zero. */
public final class Optimizers {
    private Optimizers() {
    }

    /** The factors of an AdamW update, computed in float64 and rounded once. */
    public record AdamFactors(float gradientScale, float firstRate, float beta2, float secondRate,
            float secondCorrection,
            float epsilon, float keep, float stepSize) {
        public static AdamFactors of(AdamW update) {
            double firstCorrection = 1 - Math.pow(update.beta1(), update.step());
            double secondCorrectionRoot = Math.sqrt(1 - Math.pow(update.beta2(), update.step()));
            return new AdamFactors((float) update.gradientScale(), (float) (1 - update.beta1()),
                    (float) update.beta2(), (float) (1 - update.beta2()), (float) (1 / secondCorrectionRoot),
                    (float) update.epsilon(), (float) (1 - update.learningRate() * update.weightDecay()),
                    (float) (update.learningRate() / firstCorrection));
        }
    }

    public static void adamW(long weights, long gradients, long first, long second, AdamFactors factors, int count) {
        adamW(weights, gradients, first, second, factors.gradientScale, factors.firstRate, factors.beta2,
                factors.secondRate, factors.secondCorrection, factors.epsilon, factors.keep, factors.stepSize, count);
    }

    private static void adamW(long weights, long gradients, long first, long second, float gradientScale,
            float firstRate, float beta2, float secondRate, float secondCorrection, float epsilon, float keep,
            float stepSize, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector g = Lanes.load(gradients, i).mul(gradientScale);
            FloatVector m = Lanes.load(first, i);
            m = g.sub(m).fma(Lanes.all(firstRate), m);
            FloatVector v = g.mul(g).fma(Lanes.all(secondRate), Lanes.load(second, i).mul(beta2));
            FloatVector denominator = v.sqrt().fma(Lanes.all(secondCorrection), Lanes.all(epsilon));
            Lanes.store(Lanes.zeros(), gradients, i);
            Lanes.store(m, first, i);
            Lanes.store(v, second, i);
            Lanes.store(m.div(denominator).fma(Lanes.all(-stepSize), Lanes.load(weights, i).mul(keep)), weights, i);
        }
        for (int i = whole; i < count; i++) {
            float g = Lanes.get(gradients, i) * gradientScale;
            float m = Lanes.get(first, i);
            m = Math.fma(g - m, firstRate, m);
            float v = Math.fma(g * g, secondRate, Lanes.get(second, i) * beta2);
            float denominator = Math.fma((float) Math.sqrt(v), secondCorrection, epsilon);
            Lanes.set(gradients, i, 0);
            Lanes.set(first, i, m);
            Lanes.set(second, i, v);
            Lanes.set(weights, i, Math.fma(m / denominator, -stepSize, Lanes.get(weights, i) * keep));
        }
    }

    /** weights -= learningRate (gradientScale gradients + weightDecay weights). */
    public static void sgd(long weights, long gradients, float learningRate, float weightDecay, float gradientScale,
            int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector w = Lanes.load(weights, i);
            FloatVector change = w.fma(Lanes.all(weightDecay), Lanes.load(gradients, i).mul(gradientScale));
            Lanes.store(Lanes.zeros(), gradients, i);
            Lanes.store(change.fma(Lanes.all(-learningRate), w), weights, i);
        }
        for (int i = whole; i < count; i++) {
            float w = Lanes.get(weights, i);
            float change = Math.fma(w, weightDecay, Lanes.get(gradients, i) * gradientScale);
            Lanes.set(gradients, i, 0);
            Lanes.set(weights, i, Math.fma(change, -learningRate, w));
        }
    }

    public static void sgdMomentum(long weights, long gradients, long velocity, Momentum update, int count) {
        sgdMomentum(weights, gradients, velocity, (float) update.learningRate(), (float) update.momentum(),
                update.nesterov(), (float) update.weightDecay(), (float) update.gradientScale(), count);
    }

    private static void sgdMomentum(long weights, long gradients, long velocity, float learningRate, float momentum,
            boolean nesterov, float weightDecay, float gradientScale, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector w = Lanes.load(weights, i);
            FloatVector g = w.fma(Lanes.all(weightDecay), Lanes.load(gradients, i).mul(gradientScale));
            FloatVector v = Lanes.load(velocity, i).fma(Lanes.all(momentum), g);
            FloatVector step = nesterov ? v.fma(Lanes.all(momentum), g) : v;
            Lanes.store(Lanes.zeros(), gradients, i);
            Lanes.store(v, velocity, i);
            Lanes.store(step.fma(Lanes.all(-learningRate), w), weights, i);
        }
        for (int i = whole; i < count; i++) {
            float w = Lanes.get(weights, i);
            float g = Math.fma(w, weightDecay, Lanes.get(gradients, i) * gradientScale);
            float v = Math.fma(Lanes.get(velocity, i), momentum, g);
            float step = nesterov ? Math.fma(v, momentum, g) : v;
            Lanes.set(gradients, i, 0);
            Lanes.set(velocity, i, v);
            Lanes.set(weights, i, Math.fma(step, -learningRate, w));
        }
    }
}
