package dev.troupe.snapshot;

import dev.troupe.engine.Engine;
import dev.troupe.model.StateTensor;
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
 * The snapshots of a node's ranks, and the copies it has of other nodes', or on one machine those themselves: for each
 * stage the state of the last commit, and the newer one that may not be committed yet. They outlive the rank that took
 * them.
 *
 * <p>Thread rule: any thread. {@link #close} after all ranks have ended.
 */
public final class Snapshots implements AutoCloseable {
    /** How many times the bytes of a state are kept: the older one may still be needed while the newer one is written. */
    public static final int COPIES = 2;

    /** And once more where states are pinned, one at a time. */
    public static final int COPIES_WHERE_PINNED = COPIES + 1;

    private record Key(int rank, int stage) {
    }

    /** Those of a stage. Its lock is for whoever writes; what stands is found without. */
    private static final class Pair {
        private final boolean sharesMemory;
        private final AtomicReferenceArray<Snapshot> slots = new AtomicReferenceArray<>(COPIES);
        // How often each is pinned; one that would have been written over since is in no slot any more.
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
         * What a state after so many steps is written over: not over the newest whole one, which may be that of the last
         * commit, unless it is the same state again.
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

        /** Has what another process keeps in the place of what would be written over, unless it is here already. */
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

        /** Of what is in no slot any more: whoever has pinned it still reads it. */
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

        /** Also frees what is pinned: who reads it hears that it is not there any more. */
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
     *            whether other processes of this machine can map what is kept here, and this one what they keep
     */
    public Snapshots(boolean shares) {
        this.shares = shares;
    }

    private Pair pair(int rank, int stage) {
        return pairs.computeIfAbsent(new Key(rank, stage), _ -> new Pair(shares));
    }

    /** Keeps what a stage is after so many steps, unless a later state of it is kept already. */
    public void keep(int rank, int stage, long stepsDone, Engine engine, List<StateTensor> state) {
        Pair pair = pair(rank, stage);
        synchronized (pair) {
            // A later one is of an incarnation that came after the one that was given up and speaks now.
            if (!pair.isForgotten && pair.newestSteps() <= stepsDone) {
                pair.target(stepsDone, SnapshotLayout.of(state)).write(engine, state, stepsDone);
            }
        }
    }

    /**
     * Begins to keep a copy of another node's snapshot; empty where it is whole here already, so that a sender that
     * dies on the way breaks nothing. The newest that is whole stands.
     *
     * @throws OutOfMemoryError
     *             where there is no room for it
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
     * Has a snapshot of another process of this machine found here, in that one's own memory: what its rank writes
     * there from now on is here at once, too, and stays when the process dies.
     *
     * @return whether the state after so many steps is whole here; it may have been written over since it was offered
     * @throws IOException
     *             where this process cannot have that memory
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

    /** The state of a stage after so many steps, as its rank had it; empty where it is not kept. */
    public Optional<WeightSource> find(int rank, int stage, long stepsDone) {
        return standing(rank, stage, stepsDone, KeptState::new);
    }

    /** The state of a stage after so many steps, to be sent in parts; empty where it is not kept. */
    public Optional<OutgoingCopy> read(int rank, int stage, long stepsDone) {
        return standing(rank, stage, stepsDone, OutgoingCopy::new);
    }

    /**
     * The state of a stage after so many steps, as its rank kept it here, which stays as it is until it is given back;
     * empty where it is not kept. Memory of its size is taken where the rank comes to write over it, and used again
     * from then on.
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

    /** After how many steps there are whole states of a stage here, the earlier first: its rank's own, or copies. */
    public List<Long> versions(int rank, int stage) {
        return whole(rank, stage).map(Snapshot::stepsDone).filter(steps -> steps >= 0).sorted().toList();
    }

    /**
     * Forgets what a rank kept and what was copied of it, and frees the memory, of each stage of which all is of fewer
     * steps than these, also what is still coming.
     */
    public void forget(int rank, long before) {
        pairs.entrySet().removeIf(entry -> entry.getKey().rank() == rank && entry.getValue().forget(before));
    }

    @Override
    public void close() {
        pairs.values().removeIf(pair -> pair.forget(Long.MAX_VALUE));
    }
}
