package dev.troupe.snapshot;

import dev.troupe.engine.Engine;
import dev.troupe.model.StateTensor;
import dev.troupe.weights.WeightSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The snapshots of a node's ranks, and the copies it has of other nodes': for each stage the state of the last commit, and
 * the newer one that may not be committed yet. They outlive the rank that took them.
 *
 * <p>Thread rule: any thread. {@link #close} after all ranks have ended.
 */
public final class Snapshots implements AutoCloseable {
    /** How many times the bytes of a state are kept: the older one may still be needed while the newer one is written. */
    public static final int COPIES = 2;

    private record Key(int rank, int stage) {
    }

    /** Those of a stage. Its lock is for whoever writes; what stands is found without. */
    private static final class Pair {
        private final AtomicReferenceArray<Snapshot> slots = new AtomicReferenceArray<>(COPIES);
        private boolean isForgotten;

        private long steps(int slot) {
            Snapshot snapshot = slots.get(slot);
            return snapshot == null ? -1 : snapshot.stepsDone();
        }

        Stream<Snapshot> whole() {
            return IntStream.range(0, COPIES).mapToObj(slots::get)
                    .filter(snapshot -> snapshot != null && snapshot.stepsDone() >= 0);
        }

        long newestSteps() {
            return Math.max(steps(0), steps(1));
        }

        /**
         * What a state after so many steps is written over: not over the newest whole one, which may be that of the last
         * commit, unless it is the same state again.
         */
        Snapshot target(long stepsDone, SnapshotLayout layout) {
            int newest = steps(0) >= steps(1) ? 0 : 1;
            boolean isAgain = steps(newest) < 0 || steps(newest) == stepsDone;
            int slot = isAgain ? newest : 1 - newest;
            Snapshot present = slots.get(slot);
            if (present == null || !present.layout().equals(layout)) {
                free(slot);
                slots.set(slot, new Snapshot(layout));
            }
            return slots.get(slot);
        }

        private void free(int slot) {
            Snapshot present = slots.getAndSet(slot, null);
            if (present != null) {
                present.close();
            }
        }

        synchronized boolean forget(long before) {
            isForgotten = IntStream.range(0, COPIES).mapToObj(slots::get)
                    .noneMatch(snapshot -> snapshot != null && snapshot.isSince(before));
            if (isForgotten) {
                IntStream.range(0, COPIES).forEach(this::free);
            }
            return isForgotten;
        }
    }

    private final Map<Key, Pair> pairs = new ConcurrentHashMap<>();

    /** Keeps what a stage is after so many steps, unless a later state of it is kept already. */
    public void keep(int rank, int stage, long stepsDone, Engine engine, List<StateTensor> state) {
        Pair pair = pairs.computeIfAbsent(new Key(rank, stage), _ -> new Pair());
        synchronized (pair) {
            // A later one is of an incarnation that came after the one that was given up and speaks now.
            if (!pair.isForgotten && pair.newestSteps() <= stepsDone) {
                pair.target(stepsDone, SnapshotLayout.of(state)).write(engine, state, stepsDone);
            }
        }
    }

    /**
     * Begins to keep a copy of another node's snapshot; empty where it is whole here already, so that a sender that dies on the
     * way breaks nothing. The newest that is whole stands.
     *
     * @throws OutOfMemoryError
     *             where there is no room for it
     */
    public Optional<IncomingCopy> accept(int rank, int stage, long stepsDone, SnapshotLayout layout) {
        Pair pair = pairs.computeIfAbsent(new Key(rank, stage), _ -> new Pair());
        synchronized (pair) {
            return pair.isForgotten || pair.whole().anyMatch(snapshot -> snapshot.stepsDone() == stepsDone)
                    ? Optional.empty()
                    : Optional.of(new IncomingCopy(pair.target(stepsDone, layout), stepsDone));
        }
    }

    /** The state of a stage after so many steps, as its rank had it; empty where it is not kept. */
    public Optional<WeightSource> find(int rank, int stage, long stepsDone) {
        return standing(rank, stage, stepsDone, KeptState::new);
    }

    /** The state of a stage after so many steps, to be sent in parts; empty where it is not kept. */
    public Optional<OutgoingCopy> read(int rank, int stage, long stepsDone) {
        return standing(rank, stage, stepsDone, OutgoingCopy::new);
    }

    private <T> Optional<T> standing(int rank, int stage, long stepsDone, BiFunction<Snapshot, Long, T> reader) {
        return whole(rank, stage).filter(snapshot -> snapshot.stepsDone() == stepsDone).flatMap(snapshot -> {
            long writing = snapshot.writingOf(stepsDone);
            return writing < 0 ? Stream.empty() : Stream.of(reader.apply(snapshot, writing));
        }).findFirst();
    }

    private Stream<Snapshot> whole(int rank, int stage) {
        Pair pair = pairs.get(new Key(rank, stage));
        return pair == null ? Stream.empty() : pair.whole();
    }

    /** After how many steps there are whole states of a stage here, the earlier first: its rank's own, or copies. */
    public List<Long> versions(int rank, int stage) {
        return whole(rank, stage).map(Snapshot::stepsDone).filter(steps -> steps >= 0).sorted().toList();
    }

    /**
     * Forgets what a rank kept and what was copied of it, and frees the memory, of each stage of which all is of fewer steps than
     * these, also what is still coming.
     */
    public void forget(int rank, long before) {
        pairs.entrySet().removeIf(entry -> entry.getKey().rank() == rank && entry.getValue().forget(before));
    }

    @Override
    public void close() {
        pairs.values().removeIf(pair -> pair.forget(Long.MAX_VALUE));
    }
}
