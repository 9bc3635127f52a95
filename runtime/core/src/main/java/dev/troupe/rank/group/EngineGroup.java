package dev.troupe.rank.group;

import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Reduction;
import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.parallel.TensorGroup;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongConsumer;

/**
 * A process group over tensors of one engine. If the members can meet in device memory, a {@link DeviceGroup} does the work.
 * Otherwise it works on the engine's host memory, or, if the engine does not expose it, on copies. Thread rule: the thread
 * that calls the engine.
 */
public final class EngineGroup implements TensorGroup {
    private final CollectiveGroup group;
    private final Engine engine;
    private final LongConsumer took;
    private final DeviceGroup device;
    private final Reduction ofFloats;
    private final HostBuffer first = new HostBuffer();
    private final HostBuffer second = new HostBuffer();

    /** Creates a group for tensors of an engine; the caller closes both engine and group. */
    public EngineGroup(CollectiveGroup group, Engine engine) {
        this(group, engine, _ -> {
        });
    }

    /**
     * As above, with a listener for the time of each call.
     *
     * @param took receives nanoseconds, most of them a wait for other members; on the thread of the call
     */
    public EngineGroup(CollectiveGroup group, Engine engine, LongConsumer took) {
        this(group, engine, took, Reduction.SUM);
    }

    /**
     * Creates a group that sums float32 tensors by another rule.
     *
     * @param ofFloats {@link Reduction#SUM}, {@link Reduction#SUM_OF_ROUNDED} or {@link Reduction#TREE_SUM}; other types are
     *     never rounded
     */
    public EngineGroup(CollectiveGroup group, Engine engine, Reduction ofFloats) {
        this(group, engine, _ -> {
        }, ofFloats);
    }

    private EngineGroup(CollectiveGroup group, Engine engine, LongConsumer took, Reduction ofFloats) {
        this.ofFloats = ofFloats;
        this.took = Objects.requireNonNull(took, "took");
        this.group = Objects.requireNonNull(group, "group");
        this.engine = Objects.requireNonNull(engine, "engine");
        this.device = new DeviceGroup(group, engine);
    }

    @Override
    public int size() {
        return group.size();
    }

    @Override
    public int rank() {
        return group.member();
    }

    @Override
    public void allReduce(Tensor tensor) {
        allReduce(tensor, sum(tensor));
    }

    @Override
    public void allReduceMax(Tensor tensor) {
        allReduce(tensor, Reduction.MAXIMUM);
    }

    private Reduction sum(Tensor tensor) {
        return switch (tensor.dataType()) {
            case FLOAT32 -> ofFloats;
            case FLOAT64 -> ofFloats == Reduction.TREE_SUM ? ofFloats : Reduction.SUM;
            case BFLOAT16, INT32 -> Reduction.SUM;
        };
    }

    private void allReduce(Tensor tensor, Reduction reduction) {
        if (isDoneOnDevice(tensor, reduction, () -> device.allReduce(tensor, reduction))) {
            return;
        }
        MemorySegment values = valuesOf(tensor, first);
        long start = System.nanoTime();
        group.allReduce(values, tensor.dataType(), reduction);
        took.accept(System.nanoTime() - start);
        putBack(values, tensor);
    }

    @Override
    public void allReduce(double[] values) {
        MemorySegment copy = first.ofBytes((long) values.length * Double.BYTES);
        MemorySegment.copy(values, 0, copy, ValueLayout.JAVA_DOUBLE, 0, values.length);
        long start = System.nanoTime();
        group.allReduce(copy, DataType.FLOAT64, Reduction.SUM);
        took.accept(System.nanoTime() - start);
        MemorySegment.copy(copy, ValueLayout.JAVA_DOUBLE, 0, values, 0, values.length);
    }

    @Override
    public void reduceScatter(Tensor whole, Tensor slice) {
        if (isWhole(whole, slice)) {
            return;
        }
        if (isDoneOnDevice(whole, sum(whole), () -> device.reduceScatter(whole, slice))) {
            return;
        }
        MemorySegment part = memoryFor(slice, second);
        long start = System.nanoTime();
        group.reduceScatter(valuesOf(whole, first), part, whole.dataType(), sum(whole));
        took.accept(System.nanoTime() - start);
        putBack(part, slice);
    }

    @Override
    public void allGather(Tensor slice, Tensor whole) {
        if (isWhole(whole, slice)) {
            return;
        }
        if (isDoneOnDevice(whole, Reduction.SUM, () -> device.allGather(slice, whole))) {
            return;
        }
        MemorySegment all = memoryFor(whole, second);
        long start = System.nanoTime();
        group.allGather(valuesOf(slice, first), all);
        took.accept(System.nanoTime() - start);
        putBack(all, whole);
    }

    /** Works on host memory, or copies there. */
    @Override
    public void allToAll(Tensor source, int[][] rows, Tensor target) {
        long rowBytes = target.byteCount() / target.shape().size(0);
        long[][] parts = Arrays.stream(rows)
                .map(from -> Arrays.stream(from).mapToLong(count -> count * rowBytes).toArray()).toArray(long[][]::new);
        MemorySegment taken = memoryFor(target, second);
        long start = System.nanoTime();
        group.allToAll(valuesOf(source, first), taken, parts);
        took.accept(System.nanoTime() - start);
        putBack(taken, target);
    }

    /**
     * Computes on the device if possible; a sum of rounded values or in a tree is not. The reported time is the meeting of
     * the members.
     */
    private boolean isDoneOnDevice(Tensor tensor, Reduction reduction, Runnable collective) {
        if (!engine.computesLate() || reduction == Reduction.SUM_OF_ROUNDED
                || reduction == Reduction.TREE_SUM) {
            return false;
        }
        long start = System.nanoTime();
        boolean serves = device.serves(tensor);
        if (serves) {
            collective.run();
        }
        took.accept(System.nanoTime() - start);
        return serves;
    }

    private boolean isWhole(Tensor whole, Tensor slice) {
        if (whole.dataType() != slice.dataType()) {
            throw new IllegalArgumentException("a slice must have the type of the whole, which is " + whole.dataType()
                    + ", but found " + slice.dataType());
        }
        return whole == slice && size() == 1;
    }

    private MemorySegment valuesOf(Tensor tensor, HostBuffer staging) {
        Optional<MemorySegment> own = memoryOf(tensor);
        if (own.isPresent()) {
            return own.get();
        }
        MemorySegment copy = staging.ofBytes(tensor.byteCount());
        engine.copyToHost(tensor, 0, copy);
        return copy;
    }

    private MemorySegment memoryFor(Tensor tensor, HostBuffer staging) {
        return memoryOf(tensor).orElseGet(() -> staging.ofBytes(tensor.byteCount()));
    }

    /** Returns the host memory of a tensor, after all work of the engine on it. */
    private Optional<MemorySegment> memoryOf(Tensor tensor) {
        engine.fence().await();
        return engine.hostMemory(tensor);
    }

    private void putBack(MemorySegment values, Tensor tensor) {
        if (engine.hostMemory(tensor).isEmpty()) {
            engine.copyFromHost(values, tensor, 0);
        }
    }
}
