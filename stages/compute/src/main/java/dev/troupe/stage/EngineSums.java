package dev.troupe.stage;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Sums of float64 that kernels leave on an engine until the host reads all of them in one copy: the losses of a step, or the
 * squared sums of its gradients.
 *
 * <p>Thread rule: as for kernels.
 */
public final class EngineSums implements AutoCloseable {
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final Engine engine;
    private final int count;
    /** Null until the first kernel. */
    private Tensor sums;
    private MemorySegment host;

    /** Creates sums of 0; the memory is taken from the engine with the first use. */
    public EngineSums(Engine engine, int count) {
        this.engine = engine;
        this.count = count;
    }

    /** Returns FLOAT64 numbers in one dimension, to which kernels write. */
    public Tensor tensor() {
        if (sums == null) {
            sums = engine.allocate(DataType.FLOAT64, Shape.of(count));
            host = MemorySegment.ofArray(new long[count]);
        }
        return sums;
    }

    /** Waits for the engine and brings all sums to the host, for {@link #get}. */
    public void read() {
        engine.copyToHost(tensor(), 0, host);
    }

    /** Returns a sum as of the last {@link #read}. */
    public double get(int index) {
        return host.getAtIndex(DOUBLE, index);
    }

    @Override
    public void close() {
        if (sums != null) {
            sums.close();
            sums = null;
        }
    }
}
