package dev.troupe.engine.check;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Fence;
import dev.troupe.engine.Fence.Instants;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.TooManyElementsException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The memory and the digests of a checked engine: each of its tensors wraps one of the engine's own. */
abstract class CheckedMemory implements Engine {
    final Engine engine;
    private final Operands[] operands;
    private final Operands ofRange = new Operands(this, "range");
    private final Operands ofBeginning = new Operands(this, "beginning");
    private final Operands ofToHost = new Operands(this, "toHost");
    private final Operands ofFromHost = new Operands(this, "fromHost");
    private final Operands ofTakeFrom = new Operands(this, "takeFrom");
    private final Operands ofToShared = new Operands(this, "toShared");
    private final Operands ofFromShared = new Operands(this, "fromShared");
    private final Operands ofReduce = new Operands(this, "reduce");
    private final Operands ofHostMemory = new Operands(this, "hostMemory");
    /** Set before the first call that takes time. */
    KernelHook hook = KernelHook.NONE;
    private volatile boolean isClosed;

    CheckedMemory(Engine engine) {
        this.engine = engine;
        this.operands = Arrays.stream(Kernel.values()).map(kernel -> new Operands(this, kernel.method()))
                .toArray(Operands[]::new);
    }

    /**
     * Notifies an observer of every call that takes time from now on. Called at most once, before a second thread has the
     * engine.
     */
    public final void observe(KernelHook observer) {
        hook = observer;
    }

    final Operands of(Kernel kernel) {
        return operands[kernel.ordinal()];
    }

    final boolean isClosed() {
        return isClosed;
    }

    @Override
    public final String kind() {
        return engine.kind();
    }

    @Override
    public final DataType parameterType() {
        return engine.parameterType();
    }

    @Override
    public final DataType computeType() {
        return engine.computeType();
    }

    @Override
    public final boolean holdsValues() {
        return engine.holdsValues();
    }

    @Override
    public final Tensor allocate(DataType dataType, Shape shape) {
        if (isClosed) {
            throw new IllegalStateException(String.format(Locale.ROOT,
                    "allocate: a tensor of %s %s is asked of a closed engine", dataType, shape));
        }
        TooManyElementsException.check(shape);
        long begun = hook.begins(Kernel.ALLOCATE);
        CheckedTensor result = new CheckedTensor(this, engine.allocate(dataType, shape));
        hook.ended(Kernel.ALLOCATE, begun, result);
        return result;
    }

    @Override
    public final Tensor range(Tensor buffer, long first, Shape shape) {
        CheckedTensor whole = ofRange.holding("buffer", buffer, first, shape);
        return new CheckedTensor(whole, first, engine.range(whole.own(), first, shape));
    }

    @Override
    public final Tensor beginning(Tensor buffer, Shape shape) {
        CheckedTensor whole = ofBeginning.holding("buffer", buffer, 0, shape);
        return new CheckedTensor(whole, 0, engine.beginning(whole.own(), shape));
    }

    @Override
    public final long packedCopyBytes(Shape range, long rows) {
        return engine.packedCopyBytes(range, rows);
    }

    @Override
    public final long productScratchBytes(long m, long k, long n, boolean isRange, DataType product) {
        return engine.productScratchBytes(m, k, n, isRange, product);
    }

    @Override
    public final long allocatedBytes() {
        return engine.allocatedBytes();
    }

    @Override
    public final void copyToHost(Tensor source, long byteOffset, MemorySegment target) {
        CheckedTensor own = of(Kernel.COPY_TO_HOST).bytes("source", source, byteOffset, target.byteSize());
        long begun = hook.begins(Kernel.COPY_TO_HOST);
        engine.copyToHost(own.own(), byteOffset, target);
        hook.ended(Kernel.COPY_TO_HOST, begun, own);
    }

    @Override
    public final void digest(Tensor tensor, Tensor digests, int index) {
        Operands check = of(Kernel.DIGEST);
        CheckedTensor own = check.any("tensor", tensor);
        CheckedTensor out = check.digests(digests, index, own);
        long begun = hook.begins(Kernel.DIGEST);
        engine.digest(own.own(), out.own(), index);
        hook.ended(Kernel.DIGEST, begun, out);
    }

    @Override
    public final void copyFromHost(MemorySegment source, Tensor target, long byteOffset) {
        CheckedTensor own = of(Kernel.COPY_FROM_HOST).bytes("target", target, byteOffset, source.byteSize());
        own.noteIds(source, byteOffset);
        long begun = hook.begins(Kernel.COPY_FROM_HOST);
        engine.copyFromHost(source, own.own(), byteOffset);
        hook.ended(Kernel.COPY_FROM_HOST, begun, own);
    }

    @Override
    public final boolean computesLate() {
        return engine.computesLate();
    }

    @Override
    public final Fence fence() {
        return engine.fence();
    }

    @Override
    public final Instants instants(int count) {
        return engine.instants(count);
    }

    @Override
    public final Fence toHost(Tensor source, long byteOffset, MemorySegment target, Fence after) {
        CheckedTensor own = ofToHost.bytes("source", source, byteOffset, target.byteSize());
        long begun = hook.begins(Kernel.COPY_TO_HOST);
        Fence result = engine.toHost(own.own(), byteOffset, target, after);
        hook.ended(Kernel.COPY_TO_HOST, begun, own);
        return result;
    }

    @Override
    public final Fence fromHost(MemorySegment source, Tensor target, long byteOffset, Fence after) {
        CheckedTensor own = ofFromHost.bytes("target", target, byteOffset, source.byteSize());
        own.noteIds(source, byteOffset);
        long begun = hook.begins(Kernel.COPY_FROM_HOST);
        Fence result = engine.fromHost(source, own.own(), byteOffset, after);
        hook.ended(Kernel.COPY_FROM_HOST, begun, own);
        return result;
    }

    /** Empty for ids, as {@link #hostMemory} is. */
    @Override
    public final Optional<Fence> takeFrom(Tensor source, Tensor target, long byteOffset, long byteCount) {
        CheckedTensor own = ofTakeFrom.bytes("target", target, byteOffset, byteCount);
        if (!(source instanceof CheckedTensor other)) {
            return Optional.empty();
        }
        other.owner().ofTakeFrom.bytes("source", source, byteOffset, byteCount);
        return own.dataType() == DataType.INT32
                ? Optional.empty()
                : engine.takeFrom(other.own(), own.own(), byteOffset, byteCount);
    }

    @Override
    public final Optional<Shared> share(long byteCount) {
        if (byteCount <= 0) {
            throw new IllegalArgumentException("share: at least one byte was expected, but found " + byteCount);
        }
        return engine.share(byteCount);
    }

    @Override
    public final Optional<Shared> openShared(byte[] handle) {
        return engine.openShared(handle);
    }

    /** Empty for ids, as {@link #hostMemory} is. */
    @Override
    public final Optional<Fence> toShared(Tensor source, long byteOffset, long byteCount, Shared target,
            long targetOffset) {
        CheckedTensor own = ofToShared.bytes("source", source, byteOffset, byteCount);
        requireInside("toShared", target, targetOffset, byteCount);
        return own.dataType() == DataType.INT32
                ? Optional.empty()
                : engine.toShared(own.own(), byteOffset, byteCount, target, targetOffset);
    }

    /** Empty for ids, as {@link #hostMemory} is. */
    @Override
    public final Optional<Fence> fromShared(Shared source, long sourceOffset, Tensor target, long byteOffset,
            long byteCount) {
        CheckedTensor own = ofFromShared.bytes("target", target, byteOffset, byteCount);
        requireInside("fromShared", source, sourceOffset, byteCount);
        return own.dataType() == DataType.INT32
                ? Optional.empty()
                : engine.fromShared(source, sourceOffset, own.own(), byteOffset, byteCount);
    }

    private static void requireInside(String method, Shared memory, long offset, long byteCount) {
        if (offset < 0 || byteCount > memory.byteCount() - offset) {
            throw new IllegalArgumentException(
                    String.format(Locale.ROOT, "%s: %d bytes from %d must be within the %d bytes of shared memory",
                            method, byteCount, offset, memory.byteCount()));
        }
    }

    @Override
    public final void waitFor(Fence other) {
        engine.waitFor(other);
    }

    @Override
    public final boolean reaches(List<Tensor> tensors) {
        return tensors.stream().allMatch(CheckedTensor.class::isInstance)
                && engine.reaches(tensors.stream().map(tensor -> ((CheckedTensor) tensor).own()).toList());
    }

    @Override
    public final void reduce(List<Tensor> sources, long sourceFirst, List<Tensor> targets, long targetFirst, long count,
            boolean largest) {
        DataType type = sources.getFirst().dataType();
        engine.reduce(own("source", sources, type, sourceFirst, count), sourceFirst,
                own("target", targets, type, targetFirst, count), targetFirst, count, largest);
    }

    /** Tensors of checked engines, each checked by its own engine. */
    private static List<Tensor> own(String name, List<Tensor> tensors, DataType type, long first, long count) {
        return tensors.stream().<Tensor>map(tensor -> {
            if (!(tensor instanceof CheckedTensor other)) {
                throw new IllegalArgumentException(
                        "reduce: a " + name + " must be a tensor of an engine, but is " + tensor);
            }
            Operands checks = other.owner().ofReduce;
            checks.bytes(name, other, first * type.elementBytes(), count * type.elementBytes());
            return checks.ofType(name, other, type).own();
        }).toList();
    }

    /** Empty for ids, so that all of them arrive by copies and are known here. */
    @Override
    public final Optional<MemorySegment> hostMemory(Tensor tensor) {
        CheckedTensor own = ofHostMemory.any("tensor", tensor);
        return own.dataType() == DataType.INT32 ? Optional.empty() : engine.hostMemory(own.own());
    }

    @Override
    public final void close() {
        isClosed = true;
        engine.close();
    }
}
