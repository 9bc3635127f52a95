package dev.troupe.engine.cpu.loop;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;

/**
 * The operations of softmax on a row of scores, except exponentials. Results for a whole row go through {@code lanes},
 * memory for one vector that the calling thread alone uses.
 */
public final class Softmax {
    private Softmax() {
    }

    /** The highest of {@code least} and all scores, without NaN. */
    static float highest(long scores, int count, float least, long lanes) {
        // Comparing and selecting is shorter than `max`, which also handles signs of zeros and NaN.
        FloatVector first = Lanes.all(least);
        FloatVector second = first;
        int i = 0;
        for (; i + 2 * Lanes.COUNT <= count; i += 2 * Lanes.COUNT) {
            FloatVector even = Lanes.load(scores, i);
            FloatVector odd = Lanes.load(scores, i + Lanes.COUNT);
            first = first.blend(even, even.compare(VectorOperators.GT, first));
            second = second.blend(odd, odd.compare(VectorOperators.GT, second));
        }
        first = first.blend(second, second.compare(VectorOperators.GT, first));
        for (; i + Lanes.COUNT <= count; i += Lanes.COUNT) {
            FloatVector last = Lanes.load(scores, i);
            first = first.blend(last, last.compare(VectorOperators.GT, first));
        }
        Lanes.store(first, lanes, 0);
        float highest = Lanes.largest(lanes);
        for (; i < count; i++) {
            highest = Math.max(highest, Lanes.get(scores, i));
        }
        return highest;
    }

    /** Converts dProbabilities to gradients of scores, scale p (dp - mean), in whole vectors. */
    static void backward(long probabilities, long dProbabilities, float mean, float scale, int wholeVectors) {
        FloatVector means = Lanes.all(mean);
        FloatVector scales = Lanes.all(scale);
        for (int i = 0; i < wholeVectors; i += Lanes.COUNT) {
            FloatVector centred = Lanes.load(dProbabilities, i).sub(means).mul(scales);
            Lanes.store(centred.mul(Lanes.load(probabilities, i)), dProbabilities, i);
        }
    }

    static float dot(long left, long right, int count, long lanes) {
        int whole = Lanes.whole(count);
        FloatVector sums = Lanes.zeros();
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            sums = Lanes.load(left, i).fma(Lanes.load(right, i), sums);
        }
        Lanes.store(sums, lanes, 0);
        float sum = Lanes.sum(lanes);
        for (int i = whole; i < count; i++) {
            sum = Math.fma(Lanes.get(left, i), Lanes.get(right, i), sum);
        }
        return sum;
    }
}
