package dev.troupe.engine.cpu;

import jdk.incubator.vector.FloatVector;

/**
 * Fills, copies, sums of two tensors, scaling: of so many floats at an address. Here and in the other kernels, what is
 * left after the last whole vector is computed float by float, in the same operations.
 */
final class Elementwise {
    /** Floats of a piece of work: enough to be worth a helper's while, few enough to stay in its cache. */
    static final int GRAIN = 16384;
    /** Floats that are widened together: so few that they stay in the nearest cache. */
    private static final int BLOCK = 1024;
    /** Bytes of the scratch memory that sums of tensors need. */
    static final long SCRATCH_BYTES = 2 * 4L * BLOCK;

    private Elementwise() {
    }

    static void fill(long target, float value, int count) {
        FloatVector values = Lanes.all(value);
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(values, target, i);
        }
        for (int i = whole; i < count; i++) {
            Lanes.set(target, i, value);
        }
    }

    static void copy(long source, long target, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(Lanes.load(source, i), target, i);
        }
        for (int i = whole; i < count; i++) {
            Lanes.set(target, i, Lanes.get(source, i));
        }
    }

    /** The sums of so many elements, from an index on. */
    static void add(CpuTensor left, CpuTensor right, CpuTensor sum, long first, int count, long scratch) {
        for (int from = 0; from < count; from += BLOCK) {
            int floats = Math.min(BLOCK, count - from);
            long a = left.read(first + from, floats, scratch);
            long to = sum.target(first + from, scratch);
            add(a, right.read(first + from, floats, scratch + 4L * BLOCK), to, floats);
            sum.written(first + from, floats, to);
        }
    }

    /** The elements of a tensor in the type of another, so many, from an index on. */
    static void cast(CpuTensor source, CpuTensor target, long first, int count) {
        if (source.isNarrow()) {
            Bfloats.widen(source.addressOf(first), target.addressOf(first), count);
        } else {
            Bfloats.narrow(source.addressOf(first), target.addressOf(first), count);
        }
    }

    static void add(long left, long right, long sum, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(Lanes.load(left, i).add(Lanes.load(right, i)), sum, i);
        }
        for (int i = whole; i < count; i++) {
            Lanes.set(sum, i, Lanes.get(left, i) + Lanes.get(right, i));
        }
    }

    static void scale(long target, float factor, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(Lanes.load(target, i).mul(factor), target, i);
        }
        for (int i = whole; i < count; i++) {
            Lanes.set(target, i, Lanes.get(target, i) * factor);
        }
    }
}
