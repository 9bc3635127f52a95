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
 * The snapshots of one stage on a node, its own or copies: the last commit, and a newer state that may not be committed yet.
 * The class assigns memory to states and decides when to free it; the caller keeps the bytes.
 *
 * <p>Thread rule: one caller at a time; {@link #whole} any thread.
 */
public final class SnapshotSlots<S extends SnapshotSlots.Snapshot> {
    /** The number of states of a stage: the older one may still be needed while the newer one is written. */
    public static final int COUNT = 2;
    /** The number of states of a stage if a checkpoint is written during training: one may be pinned at a time. */
    public static final int COUNT_WITH_PINNED = COUNT + 1;

    /** The memory of one state. */
    public interface Snapshot {
        /**
         * Returns the steps done of a complete state; negative if the memory has none. Never waits for a rank that writes.
         */
        long stepsDone();

        /** Returns whether the state, complete or being written, is after {@code steps} steps or more. */
        boolean isSince(long steps);

        /** Returns whether this process owns the memory and may write to it; another process's memory is only read. */
        boolean isOwn();

        /** Frees the memory, or unmaps it; reads and writes of parts fail from now on. */
        void close();
    }

    private volatile List<S> slots = List.of();
    // The number of pins of each snapshot; a pinned snapshot that was replaced is in no slot.
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

    /** Returns whether a rank may keep a state here; it may not if a later state, of a newer incarnation, is present. */
    public boolean mayKeep(long stepsDone) {
        return !isForgotten && slots.stream().allMatch(snapshot -> snapshot.stepsDone() <= stepsDone);
    }

    /**
     * Returns whether a copy is needed here. A complete state is never copied over, since the sender may die during the
     * copy.
     */
    public boolean mayCopy(long stepsDone) {
        return !isForgotten && !isWhole(stepsDone);
    }

    /**
     * Returns the snapshot with the memory for the state after {@code stepsDone} steps. It is never the newest complete one,
     * which may be the last commit, unless the state is the same.
     *
     * @param fits whether the state fits into the memory of a snapshot
     * @param allocate creates a snapshot with enough memory
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

    /** Adds the mapped snapshot of another process, in place of the one that would be overwritten. */
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

    /** Returns the snapshot that the state after {@code stepsDone} steps replaces; empty if a slot is free. */
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

    /** Protects the memory of a snapshot from changes until {@link #unpin}. */
    public void pin(S snapshot) {
        pins.merge(snapshot, 1, Integer::sum);
    }

    /** Ends a pin; memory without a slot becomes the spare. */
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
     * Frees all snapshots if all are of fewer than {@code before} steps. Pinned ones are freed too, so that their readers
     * fail. Returns whether they were freed.
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
