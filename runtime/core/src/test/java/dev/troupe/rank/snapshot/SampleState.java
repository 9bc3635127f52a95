package dev.troupe.rank.snapshot;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.reference.ReferenceEngine;
import dev.troupe.parallel.TensorSlice;
import dev.troupe.shard.StateTensor;
import dev.troupe.weights.WeightSource;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** The state of a stage, each bit of which follows from the steps it has done. */
public final class SampleState implements AutoCloseable {
    private static final int SPREAD = 0x9E3779B9;

    private final Engine engine = new ReferenceEngine(DataType.FLOAT32);
    private final List<StateTensor> tensors = new ArrayList<>();

    /** A tensor for each number of elements, of 4 bytes. */
    public SampleState(int... elements) {
        for (int count : elements) {
            Shape shape = Shape.of(count);
            tensors.add(new StateTensor("h." + tensors.size(), engine.allocate(DataType.INT32, shape),
                    TensorSlice.whole(shape), false));
        }
    }

    /** Trains {@code stepsDone} steps, and keeps a snapshot of the result. */
    public void keep(Snapshots snapshots, int rank, int stage, long stepsDone) {
        for (StateTensor named : tensors) {
            try (Arena arena = Arena.ofConfined()) {
                engine.copyFromHost(content(arena, named, rank, stage, stepsDone), named.tensor(), 0);
            }
        }
        snapshots.keep(rank, stage, stepsDone, engine, tensors);
    }

    /** Begins to keep a state, and fails on the way. */
    void failToKeep(Snapshots snapshots, int rank, int stage, long stepsDone) {
        StateTensor last = tensors.getLast();
        Tensor closed = engine.allocate(DataType.INT32, last.tensor().shape());
        closed.close();
        List<StateTensor> broken = new ArrayList<>(tensors.subList(0, tensors.size() - 1));
        broken.add(new StateTensor(last.name(), closed, last.slice(), false));
        assertThrows(RuntimeException.class, () -> snapshots.keep(rank, stage, stepsDone, engine, broken));
    }

    private static MemorySegment content(Arena arena, StateTensor named, int rank, int stage, long stepsDone) {
        MemorySegment content = arena.allocate(named.tensor().byteCount());
        int seed = (named.name() + rank + "/" + stage + "/" + stepsDone).hashCode();
        for (long i = 0; i < named.tensor().shape().elementCount(); i++) {
            content.setAtIndex(ValueLayout.JAVA_INT_UNALIGNED, i, seed + (int) i * SPREAD);
        }
        return content;
    }

    /** Whether the snapshot has the bits of the stage after {@code stepsDone} steps. */
    public boolean isIn(WeightSource kept, int rank, int stage, long stepsDone) {
        return tensors.stream().allMatch(named -> {
            try (Arena arena = Arena.ofConfined()) {
                Tensor tensor = named.tensor();
                MemorySegment found = arena.allocate(tensor.byteCount());
                kept.read(named.name(), tensor.shape(), tensor.dataType(), found);
                return found.mismatch(content(arena, named, rank, stage, stepsDone)) < 0;
            }
        });
    }

    /** Fails if the snapshot is missing, or differs. */
    public void requireKept(Snapshots snapshots, int rank, int stage, long stepsDone) {
        String what = "stage " + stage + " of rank " + rank + " after " + stepsDone + " steps";
        assertTrue(isIn(snapshots.find(rank, stage, stepsDone)
                .orElseThrow(() -> new AssertionError(what + " is not there")), rank, stage, stepsDone), what);
    }

    @Override
    public void close() {
        tensors.forEach(named -> named.tensor().close());
        engine.close();
    }
}
