package dev.troupe.snapshot;

import dev.troupe.engine.Engine;
import dev.troupe.shard.StateTensor;
import dev.troupe.weights.WeightSource;
import java.io.IOException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The snapshots of a node's ranks, and its copies of other nodes' snapshots, which it maps where they are on the same
 * machine: for each stage the state of the last commit, and the newer one that may not be committed yet. They outlive
 * the rank that took them.
 *
 * <p>Thread rule: any thread. {@link #close} after all ranks have ended.
 */
public final class Snapshots implements AutoCloseable {
    /** The number of states of a stage that are kept: the older one may still be needed while the newer one is written. */
    public static final int COPIES = 2;

    /** The same with one more for a pinned state, of which there is one at a time. */
    public static final int COPIES_WHERE_PINNED = COPIES + 1;

    private record Key(int rank, int stage) {
    }

    /** The snapshots of a stage. Writers take its lock; readers find a state without it. */
    private static final class Pair {
        private final boolean sharesMemory;
        private final AtomicReferenceArray<Snapshot> slots = new AtomicReferenceArray<>(COPIES);
        // The number of pins of each snapshot; a pinned snapshot whose memory was due to be overwritten is in no slot
        // any more.
        private final Map<Snapshot, Integer> pins = new IdentityHashMap<>();
        private Optional<OwnSnapshot> spare = Optional.empty();
        private boolean isForgotten;

        Pair(boolean sharesMemory) {
            this.sharesMemory = sharesMemory;
        }

        private long steps(int slot) {
            Snapshot snapshot = slots.get(slot);
            return snapshot == null ? -1 : snapshot.stepsDone();
        }

        Stream<Snapshot> whole() {
            return IntStream.range(0, COPIES).mapToObj(slots::get)
                    .filter(snapshot -> snapshot != null && snapshot.stepsDone() >= 0);
        }

        boolean isWhole(long stepsDone) {
            return whole().anyMatch(snapshot -> snapshot.stepsDone() == stepsDone);
        }

        long newestSteps() {
            return Math.max(steps(0), steps(1));
        }

        /**
         * Returns the snapshot whose memory the state after {@code stepsDone} steps takes: not the newest whole one,
         * which may be that of the last commit, unless it is the same state again.
         */
        OwnSnapshot target(long stepsDone, SnapshotLayout layout) {
            int slot = slotFor(stepsDone);
            if (slots.get(slot) instanceof OwnSnapshot present && !pins.containsKey(present)
                    && present.layout().equals(layout)) {
                return present;
            }
            letGo(slots.getAndSet(slot, null));
            OwnSnapshot unused = unused(layout);
            slots.set(slot, unused);
            return unused;
        }

        private int slotFor(long stepsDone) {
            int newest = steps(0) >= steps(1) ? 0 : 1;
            boolean isAgain = steps(newest) < 0 || steps(newest) == stepsDone;
            return isAgain ? newest : 1 - newest;
        }

        private OwnSnapshot unused(SnapshotLayout layout) {
            Optional<OwnSnapshot> fitting = spare.filter(snapshot -> snapshot.layout().equals(layout));
            spare.filter(_ -> fitting.isEmpty()).ifPresent(Snapshot::close);
            spare = Optional.empty();
            return fitting.orElseGet(() -> new OwnSnapshot(layout, sharesMemory));
        }

        /**
         * Puts the snapshot of another process in the place of the one that would be overwritten, unless it is here already.
         */
        void map(long stepsDone, SharedSnapshot shared) throws IOException {
            boolean isHere = IntStream.range(0, COPIES).mapToObj(slots::get)
                    .anyMatch(snapshot -> snapshot instanceof MappedSnapshot mapped && mapped.isBy(shared));
            if (!isHere) {
                Snapshot mapped = new MappedSnapshot(shared);
                int slot = IntStream.range(0, COPIES).filter(empty -> slots.get(empty) == null).findFirst()
                        .orElseGet(() -> slotFor(stepsDone));
                letGo(slots.getAndSet(slot, mapped));
            }
        }

        /** Closes a snapshot that is in no slot any more, unless a reader has pinned it. */
        private void letGo(Snapshot snapshot) {
            if (snapshot != null && !pins.containsKey(snapshot)) {
                snapshot.close();
            }
        }

        synchronized Optional<PinnedState> pin(long stepsDone) {
            return whole().filter(OwnSnapshot.class::isInstance).map(OwnSnapshot.class::cast)
                    .filter(snapshot -> snapshot.writingOf(stepsDone) >= 0)
                    .flatMap(snapshot -> snapshot.ofFiles().stream().map(ofFiles -> {
                        pins.merge(snapshot, 1, Integer::sum);
                        return new PinnedState(snapshot, snapshot.writingOf(stepsDone), ofFiles,
                                () -> unpin(snapshot));
                    })).findFirst();
        }

        private synchronized void unpin(OwnSnapshot snapshot) {
            boolean isPinnedYet = isForgotten || pins.merge(snapshot, -1, Pair::sumOrNone) != null;
            if (isPinnedYet || IntStream.range(0, COPIES).anyMatch(slot -> slots.get(slot) == snapshot)) {
                return;
            }
            if (spare.isPresent()) {
                snapshot.close();
            } else {
                spare = Optional.of(snapshot);
            }
        }

        private static Integer sumOrNone(int count, int more) {
            return count + more == 0 ? null : count + more;
        }

        /** Also frees pinned snapshots, whose readers then fail. */
        synchronized boolean forget(long before) {
            isForgotten = IntStream.range(0, COPIES).mapToObj(slots::get)
                    .noneMatch(snapshot -> snapshot != null && snapshot.isSince(before));
            if (isForgotten) {
                Set<Snapshot> all = Collections.newSetFromMap(new IdentityHashMap<>());
                all.addAll(pins.keySet());
                spare.ifPresent(all::add);
                IntStream.range(0, COPIES).mapToObj(slot -> slots.getAndSet(slot, null)).filter(Objects::nonNull)
                        .forEach(all::add);
                all.forEach(Snapshot::close);
                pins.clear();
                spare = Optional.empty();
            }
            return isForgotten;
        }
    }

    private final Map<Key, Pair> pairs = new ConcurrentHashMap<>();
    private final boolean shares;

    /**
     * @param shares
     *            whether the processes of this machine can map each other's snapshots
     */
    public Snapshots(boolean shares) {
        this.shares = shares;
    }

    private Pair pair(int rank, int stage) {
        return pairs.computeIfAbsent(new Key(rank, stage), _ -> new Pair(shares));
    }

    /** Keeps the state of a stage after {@code stepsDone} steps, unless a later state of it is kept already. */
    public void keep(int rank, int stage, long stepsDone, Engine engine, List<StateTensor> state) {
        Pair pair = pair(rank, stage);
        synchronized (pair) {
            // A later state is of the incarnation that took the place of this one, which was given up.
            if (!pair.isForgotten && pair.newestSteps() <= stepsDone) {
                pair.target(stepsDone, SnapshotLayout.of(state)).write(engine, state, stepsDone);
            }
        }
    }

    /**
     * Begins to keep a copy of another node's snapshot; empty where it is whole here already, so that a sender that
     * dies during the copy damages nothing. The newest whole copy remains.
     *
     * @throws OutOfMemoryError
     *             where there is no memory for the copy
     */
    public Optional<IncomingCopy> accept(int rank, int stage, long stepsDone, SnapshotLayout layout) {
        Pair pair = pair(rank, stage);
        synchronized (pair) {
            return pair.isForgotten || pair.isWhole(stepsDone)
                    ? Optional.empty()
                    : Optional.of(new IncomingCopy(pair.target(stepsDone, layout), stepsDone));
        }
    }

    /**
     * Maps a snapshot of another process of this machine, in that process's own memory: the writes of its rank are
     * visible here at once, and remain when the process dies.
     *
     * @return whether the state after {@code stepsDone} steps is whole here; it may have been overwritten since it was
     *          offered
     * @throws IOException
     *             where this process cannot map the memory
     */
    public boolean map(int rank, int stage, long stepsDone, SharedSnapshot shared) throws IOException {
        if (!shares) {
            throw new IOException("memory is not shared here");
        }
        Pair pair = pair(rank, stage);
        synchronized (pair) {
            if (!pair.isForgotten && !pair.isWhole(stepsDone)) {
                pair.map(stepsDone, shared);
            }
            return pair.isWhole(stepsDone);
        }
    }

    /** Returns the state of a stage after {@code stepsDone} steps, as its rank had it; empty where it is not kept. */
    public Optional<WeightSource> find(int rank, int stage, long stepsDone) {
        return standing(rank, stage, stepsDone, KeptState::new);
    }

    /** Returns the state of a stage after {@code stepsDone} steps, to be sent in parts; empty where it is not kept. */
    public Optional<OutgoingCopy> read(int rank, int stage, long stepsDone) {
        return standing(rank, stage, stepsDone, OutgoingCopy::new);
    }

    /**
     * Returns the state of a stage after {@code stepsDone} steps, as its rank kept it here; it does not change until it
     * is closed. Empty where the state is not kept. Memory of its size is allocated when the rank would overwrite it,
     * and used again from then on.
     */
    public Optional<PinnedState> pin(int rank, int stage, long stepsDone) {
        Pair pair = pairs.get(new Key(rank, stage));
        return pair == null ? Optional.empty() : pair.pin(stepsDone);
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

    /** Returns the steps of the whole states of a stage here, the earlier first: its rank's own, or copies. */
    public List<Long> versions(int rank, int stage) {
        return whole(rank, stage).map(Snapshot::stepsDone).filter(steps -> steps >= 0).sorted().toList();
    }

    /**
     * Forgets the snapshots and copies of a rank, also incomplete ones, and frees their memory, for each stage whose
     * states are all of fewer than {@code before} steps.
     */
    public void forget(int rank, long before) {
        pairs.entrySet().removeIf(entry -> entry.getKey().rank() == rank && entry.getValue().forget(before));
    }

    @Override
    public void close() {
        pairs.values().removeIf(pair -> pair.forget(Long.MAX_VALUE));
    }
}
