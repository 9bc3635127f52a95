package dev.troupe.engine.cpu.memory;

import dev.troupe.engine.DataType;
import dev.troupe.engine.EngineTensor;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.cpu.loop.Lanes;
import dev.troupe.engine.cpu.loop.RowLoop;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** A tensor in native memory, aligned to 64 bytes, or a range of one, at any address. */
public final class CpuTensor extends EngineTensor {
    private final CpuMemory owner;
    /** The tensor with the memory: this one, or the one of which this is a range. */
    private final CpuTensor buffer;
    /** Null for a range. */
    private final Arena arena;
    private final MemorySegment elements;
    private final boolean keepsCopies;
    /** Packed copies of ranges of this buffer, freed with it; empty for a range. */
    private final List<PackedCopy> copies = new ArrayList<>();
    /** The number of writes so far. Several threads may write, but never the same elements. */
    private volatile int changes;
    private final AtomicBoolean closed = new AtomicBoolean();

    public CpuTensor(CpuMemory owner, DataType dataType, Shape shape) {
        super(dataType, shape);
        this.owner = owner;
        this.buffer = this;
        this.arena = Arena.ofShared();
        this.elements = arena.allocate(byteCount(), Lanes.ALIGNMENT);
        this.keepsCopies = false;
    }

    public static CpuTensor range(CpuTensor buffer, long first, Shape shape) {
        return new CpuTensor(buffer, first, shape, true);
    }

    /** The beginning of another tensor, with contents that change from use to use. */
    public static CpuTensor beginning(CpuTensor buffer, Shape shape) {
        return new CpuTensor(buffer, 0, shape, false);
    }

    /** Some rows of a matrix with contents that change from use to use. */
    public static CpuTensor rows(CpuTensor matrix, int first, int count) {
        int columns = matrix.size(1);
        return new CpuTensor(matrix, (long) first * columns, Shape.of(count, columns), false);
    }

    private CpuTensor(CpuTensor buffer, long first, Shape shape, boolean keepsCopies) {
        super(buffer.dataType, shape);
        this.owner = buffer.owner;
        this.buffer = buffer.buffer;
        this.arena = null;
        this.elements = buffer.elements.asSlice(first * dataType.elementBytes(), byteCount());
        this.keepsCopies = keepsCopies;
    }

    /** Returns an operand that a kernel reads. */
    public static CpuTensor of(Tensor operand) {
        return (CpuTensor) operand;
    }

    /** Returns an operand that is written; packed copies of its buffer become outdated. */
    public static CpuTensor changing(Tensor operand) {
        CpuTensor own = (CpuTensor) operand;
        // Not atomic: one of two concurrent increments may be lost, and the number still changes.
        own.buffer.changes++;
        return own;
    }

    public long elementCount() {
        return shape.elementCount();
    }

    /** Whether a packed copy of this is kept. */
    public boolean keepsCopies() {
        return keepsCopies;
    }

    /** The address of a packed copy of this that is up to date; made and kept by the first call. */
    public long packed(Packer packer) {
        return buffer.packed(packer, address());
    }

    private long packed(Packer packer, long from) {
        for (int i = 0; i < copies.size(); i++) {
            if (copies.get(i).isOf(packer, from)) {
                return copies.get(i).after(changes);
            }
        }
        long to = arena.allocate(packer.bytes(), Lanes.ALIGNMENT).address();
        copies.add(new PackedCopy(packer, from, to, changes));
        owner.grew(packer.bytes());
        return copies.getLast().after(changes);
    }

    long packedBytes() {
        return copies.stream().mapToLong(PackedCopy::bytes).sum();
    }

    /** The address of the first element; valid until the tensor is closed. */
    public long address() {
        return elements.address();
    }

    /** Whether elements are halves of floats, which kernels widen and narrow. */
    public boolean isNarrow() {
        return dataType == DataType.BFLOAT16;
    }

    public long addressOf(long element) {
        return address() + dataType.elementBytes() * element;
    }

    /** The address of {@code count} elements as floats: in place, or in scratch memory, to which they are widened. */
    public long read(long element, int count, long scratch) {
        if (!isNarrow()) {
            return addressOf(element);
        }
        RowLoop.widen(addressOf(element), scratch, count);
        return scratch;
    }

    /** The address at which to write elements as floats: in place, or in scratch memory until {@link #written}. */
    public long target(long element, long scratch) {
        return isNarrow() ? scratch : addressOf(element);
    }

    /** Called after {@code count} elements were written at their {@link #target}. */
    public void written(long element, int count, long floats) {
        if (isNarrow()) {
            RowLoop.narrow(floats, addressOf(element), count);
        }
    }

    /** The elements, with a liveness check on each access. */
    public MemorySegment elements() {
        return elements;
    }

    @Override
    public void close() {
        if (buffer == this && closed.compareAndSet(false, true)) {
            owner.forget(this);
            arena.close();
        }
    }
}
