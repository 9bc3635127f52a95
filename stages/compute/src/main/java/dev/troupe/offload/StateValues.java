package dev.troupe.offload;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The values of a state tensor, in the memory of the engine or in a store. Thread rule: as for the engine's copies. */
public sealed interface StateValues {
    /** Values in the memory of the engine. */
    record InEngine(Tensor tensor) implements StateValues {
        @Override
        public Shape shape() {
            return tensor.shape();
        }

        @Override
        public DataType dataType() {
            return tensor.dataType();
        }

        @Override
        public Fence toHost(Engine engine, MemorySegment target, Fence after) {
            return engine.toHost(tensor, 0, target, after);
        }

        @Override
        public void fromHost(Engine engine, MemorySegment source) {
            engine.copyFromHost(source, tensor, 0);
        }
    }

    /** Values in a store, from a byte on. */
    record InStore(StateRegion region, long byteOffset, DataType dataType, Shape shape) implements StateValues {
        @Override
        public Fence toHost(Engine engine, MemorySegment target, Fence after) {
            after.await();
            if (target.isNative()) {
                region.read(byteOffset, target);
                return Fence.REACHED;
            }
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment memory = arena.allocate(target.byteSize(), Long.BYTES);
                region.read(byteOffset, memory);
                target.copyFrom(memory);
            }
            return Fence.REACHED;
        }

        @Override
        public void fromHost(Engine engine, MemorySegment source) {
            if (source.isNative()) {
                region.write(byteOffset, source);
                return;
            }
            try (Arena arena = Arena.ofConfined()) {
                region.write(byteOffset, arena.allocate(source.byteSize(), Long.BYTES).copyFrom(source));
            }
        }
    }

    Shape shape();

    DataType dataType();

    default long byteCount() {
        return shape().elementCount() * dataType().elementBytes();
    }

    /** Begins to copy all values to the host when a fence is reached, as {@link Engine#toHost}. */
    Fence toHost(Engine engine, MemorySegment target, Fence after);

    /** Copies all values to the host, and returns after their arrival. */
    default void copyToHost(Engine engine, MemorySegment target) {
        toHost(engine, target, engine.fence()).await();
    }

    /** Replaces all values by the bytes of host memory. */
    void fromHost(Engine engine, MemorySegment source);
}
