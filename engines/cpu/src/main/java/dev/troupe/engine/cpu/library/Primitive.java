package dev.troupe.engine.cpu.library;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A primitive of oneDNN with its arguments, so that a call allocates nothing.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class Primitive implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final long primitive;
    private final int argumentCount;
    private final MemorySegment arguments;

    /**
     * Creates the primitive of a plan; the caller still owns the plan.
     *
     * @param names oneDNN's number of each argument
     * @param descriptors the memory layout of each argument; the caller still owns them
     */
    public Primitive(long plan, int[] names, long[] descriptors) {
        primitive = Dnnl.primitive(plan);
        argumentCount = names.length;
        arguments = arena.allocate(argumentCount * Dnnl.ARGUMENT_BYTES, Long.BYTES);
        for (int i = 0; i < argumentCount; i++) {
            arguments.set(JAVA_INT, i * Dnnl.ARGUMENT_BYTES, names[i]);
            arguments.set(JAVA_LONG, i * Dnnl.ARGUMENT_BYTES + Long.BYTES, Dnnl.memory(descriptors[i]));
        }
    }

    /** Sets the address of an argument of the next call. */
    public void set(int argument, long address) {
        Dnnl.setAddress(memory(argument), address);
    }

    public void execute() {
        Dnnl.execute(primitive, argumentCount, arguments.address());
    }

    private long memory(int argument) {
        return arguments.get(JAVA_LONG, argument * Dnnl.ARGUMENT_BYTES + Long.BYTES);
    }

    @Override
    public void close() {
        Dnnl.destroyPrimitive(primitive);
        for (int i = 0; i < argumentCount; i++) {
            Dnnl.destroyMemory(memory(i));
        }
        arena.close();
    }
}
