package dev.troupe.engine.cpu.loop;

import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;

/**
 * Fills, copies, sums and scalings of floats at an address. Here and in the other loops, the floats after the last whole
 * vector are computed one by one, with the same operations.
 */
public final class Elements {
    private Elements() {
    }

    public static void fill(long target, float value, int count) {
        FloatVector values = Lanes.all(value);
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(values, target, i);
        }
        for (int i = whole; i < count; i++) {
            Lanes.set(target, i, value);
        }
    }

    public static void copy(long source, long target, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(Lanes.load(source, i), target, i);
        }
        for (int i = whole; i < count; i++) {
            Lanes.set(target, i, Lanes.get(source, i));
        }
    }

    /** Copies bytes of numbers of any type. */
    public static void copyBytes(long source, long target, long bytes) {
        MemorySegment.copy(Lanes.MEMORY, source, Lanes.MEMORY, target, bytes);
    }

    public static void add(long left, long right, long sum, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(Lanes.load(left, i).add(Lanes.load(right, i)), sum, i);
        }
        for (int i = whole; i < count; i++) {
            Lanes.set(sum, i, Lanes.get(left, i) + Lanes.get(right, i));
        }
    }

    public static void scale(long target, float factor, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(Lanes.load(target, i).mul(factor), target, i);
        }
        for (int i = whole; i < count; i++) {
            Lanes.set(target, i, Lanes.get(target, i) * factor);
        }
    }

    /** sum = factor sum + addend. */
    public static void scaleAndAdd(long addend, float factor, long sum, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(Lanes.load(sum, i).mul(factor).add(Lanes.load(addend, i)), sum, i);
        }
        for (int i = whole; i < count; i++) {
            Lanes.set(sum, i, Lanes.get(sum, i) * factor + Lanes.get(addend, i));
        }
    }

    /** sum += factor addend. */
    public static void addScaled(long addend, float factor, long sum, int count) {
        int whole = Lanes.whole(count);
        for (int i = 0; i < whole; i += Lanes.COUNT) {
            Lanes.store(Lanes.load(addend, i).mul(factor).add(Lanes.load(sum, i)), sum, i);
        }
        for (int i = whole; i < count; i++) {
            Lanes.set(sum, i, Lanes.get(addend, i) * factor + Lanes.get(sum, i));
        }
    }
}
