package dev.troupe.engine.cpu;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;

/** What softmax does to a row of scores. */
final class Softmax {
    private Softmax() {
    }

    /** The highest of {@code least} and the scores. */
    static float highest(long scores, int count, float least) {
        int whole = Lanes.whole(count);
        FloatVector highest = Lanes.all(least);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            highest = highest.max(Lanes.load(scores, i));
        }
        if (whole < count) {
            VectorMask<Float> rest = Lanes.rest(whole, count);
            highest = highest.blend(highest.max(Lanes.load(scores, whole, rest)), rest);
        }
        return Lanes.largest(highest);
    }

    /** The sum of e^(score - highest). */
    static float sumOfExponentials(long scores, float highest, int count) {
        int whole = Lanes.whole(count);
        FloatVector sums = Lanes.zeros();
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            sums = sums.add(VectorMath.exp(Lanes.load(scores, i).sub(highest)));
        }
        if (whole < count) {
            VectorMask<Float> rest = Lanes.rest(whole, count);
            FloatVector exponentials = VectorMath.exp(Lanes.load(scores, whole, rest).sub(highest));
            sums = sums.add(Lanes.zeros().blend(exponentials, rest));
        }
        return Lanes.sum(sums);
    }

    /** Scores become e^(score - highest), and zeros from {@code count} to {@code width}; returns their sum. */
    static float exponentials(long scores, float highest, int count, int width) {
        int whole = Lanes.whole(count);
        FloatVector sums = Lanes.zeros();
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector exponentials = VectorMath.exp(Lanes.load(scores, i).sub(highest));
            sums = sums.add(exponentials);
            Lanes.store(exponentials, scores, i);
        }
        if (whole < count) {
            VectorMask<Float> rest = Lanes.rest(whole, count);
            FloatVector exponentials = VectorMath.exp(Lanes.load(scores, whole, rest).sub(highest));
            sums = sums.add(Lanes.zeros().blend(exponentials, rest));
            Lanes.store(exponentials, scores, whole, rest);
        }
        Elementwise.fill(scores + 4L * count, 0, width - count);
        return Lanes.sum(sums);
    }

    /**
     * Scores become the probabilities e^(score - logSum), and dProbabilities the gradients of the scores, scale p (dp -
     * mean); both zeros from {@code count} to {@code width}.
     */
    static void backward(long scores, float logSum, long dProbabilities, float mean, float scale, int count,
            int width) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            FloatVector p = VectorMath.exp(Lanes.load(scores, i).sub(logSum));
            Lanes.store(p, scores, i);
            Lanes.store(Lanes.load(dProbabilities, i).sub(mean).mul(scale).mul(p), dProbabilities, i);
        }
        if (whole < count) {
            VectorMask<Float> rest = Lanes.rest(whole, count);
            FloatVector p = VectorMath.exp(Lanes.load(scores, whole, rest).sub(logSum));
            Lanes.store(p, scores, whole, rest);
            Lanes.store(Lanes.load(dProbabilities, whole, rest).sub(mean).mul(scale).mul(p), dProbabilities, whole,
                    rest);
        }
        Elementwise.fill(scores + 4L * count, 0, width - count);
        Elementwise.fill(dProbabilities + 4L * count, 0, width - count);
    }

    /** The sum of the products of two rows. */
    static float dot(long left, long right, int count) {
        int whole = Lanes.whole(count);
        FloatVector sums = Lanes.zeros();
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            sums = Lanes.load(left, i).fma(Lanes.load(right, i), sums);
        }
        if (whole < count) {
            VectorMask<Float> rest = Lanes.rest(whole, count);
            sums = Lanes.load(left, whole, rest).fma(Lanes.load(right, whole, rest), sums);
        }
        return Lanes.sum(sums);
    }
}
