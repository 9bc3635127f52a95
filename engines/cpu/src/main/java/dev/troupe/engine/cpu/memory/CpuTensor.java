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

/** A tensor in native memory, on a boundary of 64 bytes; or a range of one, wherever it begins. */
public final class CpuTensor extends EngineTensor {
    private final CpuMemory owner;
    /** The tensor whose memory this is: itself, or the one it is a range of. */
    private final CpuTensor buffer;
    /** Null for a range. */
    private final Arena arena;
    private final MemorySegment elements;
    private final boolean keepsCopies;
    /** Of ranges of this; empty for a range. They are gone with the buffer. */
    private final List<PackedCopy> copies = new ArrayList<>();
    /** How often this may have been written. More than one thread may write, but never two the same elements. */
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

    /** A range of another tensor, which holds it. */
    public static CpuTensor range(CpuTensor buffer, long first, Shape shape) {
        return new CpuTensor(buffer, first, shape, true);
    }

    /** The beginning of another tensor, whose content changes from use to use. */
    public static CpuTensor beginning(CpuTensor buffer, Shape shape) {
        return new CpuTensor(buffer, 0, shape, false);
    }

    private CpuTensor(CpuTensor buffer, long first, Shape shape, boolean keepsCopies) {
        super(buffer.dataType, shape);
        this.owner = buffer.owner;
        this.buffer = buffer.buffer;
        this.arena = null;
        this.elements = buffer.elements.asSlice(first * dataType.elementBytes(), byteCount());
        this.keepsCopies = keepsCopies;
    }

    /** An operand that a kernel reads. */
    public static CpuTensor of(Tensor operand) {
        return (CpuTensor) operand;
    }

    /** An operand that is written: what was packed of its buffer is packed again when it is next needed. */
    public static CpuTensor changing(Tensor operand) {
        CpuTensor own = (CpuTensor) operand;
        // Not atomic: of two that add at once one may be lost, and it is no longer what it was all the same.
        own.buffer.changes++;
        return own;
    }

    public long elementCount() {
        return shape.elementCount();
    }

    /** Whether what was packed of this is kept beside it. */
    public boolean keepsCopies() {
        return keepsCopies;
    }

    /** Where a packed copy of this is that is up to date; made and kept the first time. */
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

    /** Bytes of all packed copies. */
    long packedBytes() {
        return copies.stream().mapToLong(PackedCopy::bytes).sum();
    }

    /** Where the first element is; valid until the tensor is closed. */
    public long address() {
        return elements.address();
    }

    /** Whether its elements are halves of floats, which kernels widen and narrow. */
    public boolean isNarrow() {
        return dataType == DataType.BFLOAT16;
    }

    public long addressOf(long element) {
        return address() + dataType.elementBytes() * element;
    }

    /** The address of {@code count} elements as floats: their own, or that of scratch memory, to which they are widened. */
    public long read(long element, int count, long scratch) {
        if (!isNarrow()) {
            return addressOf(element);
        }
        RowLoop.widen(addressOf(element), scratch, count);
        return scratch;
    }

    /** Where elements are to be written as floats: where they belong, or in scratch memory until {@link #written}. */
    public long target(long element, long scratch) {
        return isNarrow() ? scratch : addressOf(element);
    }

    /** {@code count} elements were written at their {@link #target}. */
    public void written(long element, int count, long floats) {
        if (isNarrow()) {
            RowLoop.narrow(floats, addressOf(element), count);
        }
    }

    /** The elements, for whoever needs a check of life with each access. */
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
