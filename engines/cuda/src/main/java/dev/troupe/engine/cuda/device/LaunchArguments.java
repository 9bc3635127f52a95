package dev.troupe.engine.cuda.device;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The arguments of a launch, in the order of the kernel's parameters: each in a slot of eight bytes of native memory, with a
 * pointer to each slot for {@code cuLaunchKernel}. Reused for every launch.
 *
 * <p>Thread rule: one thread.
 */
public final class LaunchArguments implements AutoCloseable {
    private static final int MOST = 40;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment slots = arena.allocate(ValueLayout.JAVA_LONG, MOST);
    private final MemorySegment pointers = arena.allocate(ValueLayout.JAVA_LONG, MOST);
    private int count;

    public LaunchArguments() {
        for (int i = 0; i < MOST; i++) {
            pointers.setAtIndex(ValueLayout.JAVA_LONG, i, slots.address() + (long) i * Long.BYTES);
        }
    }

    public void clear() {
        count = 0;
    }

    public void addWide(long value) {
        slots.setAtIndex(ValueLayout.JAVA_LONG, count++, value);
    }

    public void addInteger(int value) {
        slots.set(ValueLayout.JAVA_INT, (long) count++ * Long.BYTES, value);
    }

    public void addReal(float value) {
        slots.set(ValueLayout.JAVA_FLOAT, (long) count++ * Long.BYTES, value);
    }

    public int count() {
        return count;
    }

    /** The bits of an argument; 32 bits are in the lower half. */
    public long bits(int index) {
        return slots.getAtIndex(ValueLayout.JAVA_LONG, index);
    }

    /** The address of the pointers to the slots. */
    public long pointers() {
        return pointers.address();
    }

    @Override
    public void close() {
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
