package dev.troupe.protocol.replica;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The snapshots of one stage on a node, a rank's own or copies: the state of the last commit, and the newer one that may not
 * be committed yet. It decides which memory a state takes, and when memory is freed; the caller keeps the bytes.
 *
 * <p>Thread rule: one caller at a time; {@link #whole} any thread.
 */
public final class SnapshotSlots<S extends SnapshotSlots.Snapshot> {
    /** The number of states of a stage that are kept: the older one may still be needed while the newer one is written. */
    public static final int COUNT = 2;

    /** The memory of one state. */
    public interface Snapshot {
        /** Returns the steps done of the whole state; negative while there is none. Does not wait for a rank that writes. */
        long stepsDone();

        /** Returns whether the state, or the one being written, is after {@code steps} steps or more. */
        boolean isSince(long steps);

        /** Returns whether this node may write here; the memory of another process is only read. */
        boolean isOwn();

        /** Frees the memory, or unmaps it; reads and writes of parts fail from now on. */
        void close();
    }

    private volatile List<S> slots = List.of();
    // The number of pins of each snapshot; a pinned snapshot that was due to be overwritten is in no slot any more.
    private final Map<S, Integer> pins = new IdentityHashMap<>();
    private Optional<S> spare = Optional.empty();
    private boolean isForgotten;

    public Stream<S> whole() {
        return slots.stream().filter(snapshot -> snapshot.stepsDone() >= 0);
    }

    /** Returns all snapshots, also those that are being written. */
    public Stream<S> all() {
        return slots.stream();
    }

    public boolean isWhole(long stepsDone) {
        return whole().anyMatch(snapshot -> snapshot.stepsDone() == stepsDone);
    }

    /** Returns whether a rank may keep a state here. A later state belongs to the incarnation that replaced this one. */
    public boolean mayKeep(long stepsDone) {
        return !isForgotten && slots.stream().allMatch(snapshot -> snapshot.stepsDone() <= stepsDone);
    }

    /**
     * Returns whether a copy is of use here. A whole state is not overwritten by itself: the sender may die during the copy.
     */
    public boolean mayCopy(long stepsDone) {
        return !isForgotten && !isWhole(stepsDone);
    }

    /**
     * Returns the snapshot that gives its memory to the state after {@code stepsDone} steps: not the newest whole one, which
     * may be the last commit, unless it is the same state again.
     *
     * @param fits whether the state fits into the memory of a snapshot
     * @param allocate makes a snapshot into which it fits
     */
    public S target(long stepsDone, Predicate<S> fits, Supplier<S> allocate) {
        Optional<S> replaced = replaced(stepsDone);
        if (replaced.filter(present -> present.isOwn() && !pins.containsKey(present) && fits.test(present))
                .isPresent()) {
            return replaced.get();
        }
        int slot = replaced.map(slots::indexOf).orElse(slots.size());
        replaced.ifPresent(this::takeOut);
        Optional<S> fitting = spare.filter(fits);
        spare.filter(_ -> fitting.isEmpty()).ifPresent(Snapshot::close);
        spare = Optional.empty();
        S unused = fitting.orElseGet(allocate);
        put(slot, unused);
        return unused;
    }

    /** Puts the snapshot of another process in the place of the one that would be overwritten. */
    public void map(long stepsDone, S mapped) {
        if (slots.size() == COUNT) {
            S replaced = replaced(stepsDone).orElseThrow();
            int slot = slots.indexOf(replaced);
            takeOut(replaced);
            put(slot, mapped);
        } else {
            put(slots.size(), mapped);
        }
    }

    /** Returns the snapshot that gives way to the state after {@code stepsDone} steps; empty if both have room. */
    private Optional<S> replaced(long stepsDone) {
        Optional<S> newest = slots.stream()
                .reduce((one, other) -> other.stepsDone() > one.stepsDone() ? other : one);
        boolean isAgain = newest.filter(snapshot -> snapshot.stepsDone() < 0 || snapshot.stepsDone() == stepsDone)
                .isPresent();
        return isAgain ? newest : slots.stream().filter(snapshot -> snapshot != newest.get()).findFirst();
    }

    private void put(int slot, S snapshot) {
        List<S> all = new ArrayList<>(slots);
        all.add(slot, snapshot);
        slots = List.copyOf(all);
    }

    /** Takes a snapshot out of its slot, and closes it unless a reader has pinned it. */
    private void takeOut(S snapshot) {
        slots = slots.stream().filter(other -> other != snapshot).toList();
        if (!pins.containsKey(snapshot)) {
            snapshot.close();
        }
    }

    /** Keeps the memory of a snapshot as it is until {@link #unpin}. */
    public void pin(S snapshot) {
        pins.merge(snapshot, 1, Integer::sum);
    }

    /** Ends a pin. Memory that has no slot any more serves the next state. */
    public void unpin(S snapshot) {
        boolean isPinnedYet = isForgotten || pins.merge(snapshot, -1, SnapshotSlots::sumOrNone) != null;
        if (isPinnedYet || slots.stream().anyMatch(other -> other == snapshot)) {
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

    /**
     * Frees all snapshots if all are of fewer than {@code before} steps, also pinned ones, so that their readers fail;
     * returns whether they were freed.
     */
    public boolean forget(long before) {
        isForgotten = slots.stream().noneMatch(snapshot -> snapshot.isSince(before));
        if (isForgotten) {
            Set<S> all = Collections.newSetFromMap(new IdentityHashMap<>());
            all.addAll(pins.keySet());
            spare.ifPresent(all::add);
            all.addAll(slots);
            slots = List.of();
            all.forEach(Snapshot::close);
            pins.clear();
            spare = Optional.empty();
        }
        return isForgotten;
    }
}
