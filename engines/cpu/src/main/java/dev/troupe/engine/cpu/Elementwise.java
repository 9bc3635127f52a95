package dev.troupe.engine.cpu;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;

/** Fills, sums of two tensors, scaling: of so many floats at an address. */
final class Elementwise {
    /** Floats of a piece of work: enough to be worth a helper's while, few enough to stay in its cache. */
    static final int GRAIN = 16384;

    private Elementwise() {
    }

    static void fill(long target, float value, int count) {
        FloatVector values = Lanes.all(value);
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(values, target, i);
        }
        if (whole < count) {
            Lanes.store(values, target, whole, Lanes.rest(whole, count));
        }
    }

    static void add(long left, long right, long sum, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(Lanes.load(left, i).add(Lanes.load(right, i)), sum, i);
        }
        if (whole < count) {
            VectorMask<Float> rest = Lanes.rest(whole, count);
            Lanes.store(Lanes.load(left, whole, rest).add(Lanes.load(right, whole, rest)), sum, whole, rest);
        }
    }

    static void scale(long target, float factor, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(Lanes.load(target, i).mul(factor), target, i);
        }
        if (whole < count) {
            VectorMask<Float> rest = Lanes.rest(whole, count);
            Lanes.store(Lanes.load(target, whole, rest).mul(factor), target, whole, rest);
        }
    }
}
