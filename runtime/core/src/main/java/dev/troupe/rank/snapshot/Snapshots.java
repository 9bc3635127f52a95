package dev.troupe.rank.snapshot;

import dev.troupe.engine.Engine;
import dev.troupe.protocol.replica.SnapshotSlots;
import dev.troupe.shard.StateTensor;
import dev.troupe.snapshot.copy.CopyStore;
import dev.troupe.snapshot.copy.IncomingCopy;
import dev.troupe.snapshot.copy.OutgoingCopy;
import dev.troupe.snapshot.copy.SharedSnapshot;
import dev.troupe.snapshot.copy.SnapshotLayout;
import dev.troupe.weights.WeightSource;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.stream.Stream;

/**
 * The snapshots of a node's ranks, and its copies of other nodes' snapshots; copies from the same machine are mapped. For
 * each stage it has the state of the last commit, and a later one that may not be committed yet. They outlive the rank that
 * took them. Thread rule: any thread. {@link #close} after all ranks have ended.
 */
public final class Snapshots implements CopyStore, AutoCloseable {
    private record Key(int rank, int stage) {
    }

    // Writers take the lock of a stage's slots; readers find a state without it.
    private final Map<Key, SnapshotSlots<Snapshot>> stages = new ConcurrentHashMap<>();
    private final boolean shares;

    /** @param shares whether the processes of this machine can map each other's snapshots */
    public Snapshots(boolean shares) {
        this.shares = shares;
    }

    private SnapshotSlots<Snapshot> slots(int rank, int stage) {
        return stages.computeIfAbsent(new Key(rank, stage), _ -> new SnapshotSlots<>());
    }

    /** Keeps the state of a stage after {@code stepsDone} steps, unless a later one is kept already. */
    public void keep(int rank, int stage, long stepsDone, Engine engine, List<StateTensor> state) {
        SnapshotSlots<Snapshot> slots = slots(rank, stage);
        synchronized (slots) {
            if (slots.mayKeep(stepsDone)) {
                target(slots, stepsDone, layoutOf(state)).write(engine, state, stepsDone);
            }
        }
    }

    /** Returns the layout of the tensors of a stage, in their order; only names, shapes and types are used. */
    public static SnapshotLayout layoutOf(List<StateTensor> state) {
        SnapshotLayout.Builder tensors = new SnapshotLayout.Builder();
        state.forEach(named -> tensors.add(named.name(), named.values().shape(), named.values().dataType()));
        return tensors.build();
    }

    /** Returns a slot to write to, always in memory of this process. */
    private OwnSnapshot target(SnapshotSlots<Snapshot> slots, long stepsDone, SnapshotLayout layout) {
        return (OwnSnapshot) slots.target(stepsDone, present -> present.layout().equals(layout),
                () -> new OwnSnapshot(layout, shares));
    }

    @Override
    public Optional<IncomingCopy> accept(int rank, int stage, long stepsDone, SnapshotLayout layout) {
        SnapshotSlots<Snapshot> slots = slots(rank, stage);
        synchronized (slots) {
            return slots.mayCopy(stepsDone)
                    ? Optional.of(new IncomingState(target(slots, stepsDone, layout), stepsDone))
                    : Optional.empty();
        }
    }

    @Override
    public boolean map(int rank, int stage, long stepsDone, SharedSnapshot shared) throws IOException {
        if (!shares) {
            throw new IOException("memory is not shared here");
        }
        SnapshotSlots<Snapshot> slots = slots(rank, stage);
        synchronized (slots) {
            if (slots.mayCopy(stepsDone) && slots.all().noneMatch(snapshot -> snapshot.isBy(shared))) {
                slots.map(stepsDone, new MappedSnapshot(shared));
            }
            return slots.isWhole(stepsDone);
        }
    }

    /** Returns the state of a stage after {@code stepsDone} steps; empty if it is not kept. */
    public Optional<WeightSource> find(int rank, int stage, long stepsDone) {
        return complete(rank, stage, stepsDone, KeptState::new);
    }

    @Override
    public Optional<OutgoingCopy> read(int rank, int stage, long stepsDone) {
        return complete(rank, stage, stepsDone, OutgoingState::new);
    }

    /**
     * Returns the state of a stage after {@code stepsDone} steps; empty if its rank has not kept it here. It does not change
     * before it is closed. When the rank would overwrite it, memory of the same size is allocated, and reused from then on.
     */
    public Optional<PinnedState> pin(int rank, int stage, long stepsDone) {
        SnapshotSlots<Snapshot> slots = slots(rank, stage);
        synchronized (slots) {
            return slots.whole().filter(snapshot -> snapshot.writingOf(stepsDone) >= 0)
                    .flatMap(snapshot -> snapshot.ofFiles().stream().map(ofFiles -> {
                        slots.pin(snapshot);
                        return new PinnedState(snapshot, snapshot.writingOf(stepsDone), ofFiles,
                                () -> unpin(slots, snapshot));
                    })).findFirst();
        }
    }

    private static void unpin(SnapshotSlots<Snapshot> slots, Snapshot snapshot) {
        synchronized (slots) {
            slots.unpin(snapshot);
        }
    }

    private <T> Optional<T> complete(int rank, int stage, long stepsDone, BiFunction<Snapshot, Long, T> reader) {
        return whole(rank, stage).filter(snapshot -> snapshot.stepsDone() == stepsDone).flatMap(snapshot -> {
            long writing = snapshot.writingOf(stepsDone);
            return writing < 0 ? Stream.empty() : Stream.of(reader.apply(snapshot, writing));
        }).findFirst();
    }

    private Stream<Snapshot> whole(int rank, int stage) {
        SnapshotSlots<Snapshot> slots = stages.get(new Key(rank, stage));
        return slots == null ? Stream.empty() : slots.whole();
    }

    /** Returns the steps done of the complete states of a stage here, in ascending order. */
    public List<Long> versions(int rank, int stage) {
        return whole(rank, stage).map(Snapshot::stepsDone).filter(steps -> steps >= 0).sorted().toList();
    }

    /**
     * Frees the snapshots and copies of a rank, incomplete ones included, for each stage with no state of {@code before} or
     * more steps.
     */
    public void forget(int rank, long before) {
        stages.entrySet().removeIf(entry -> entry.getKey().rank() == rank && forget(entry.getValue(), before));
    }

    private static boolean forget(SnapshotSlots<Snapshot> slots, long before) {
        synchronized (slots) {
            return slots.forget(before);
        }
    }

    @Override
    public void close() {
        stages.values().removeIf(slots -> forget(slots, Long.MAX_VALUE));
    }
}
