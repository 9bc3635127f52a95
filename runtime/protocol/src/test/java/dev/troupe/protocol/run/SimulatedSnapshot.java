package dev.troupe.protocol.run;

import dev.troupe.protocol.replica.SnapshotSlots;
import dev.troupe.protocol.replica.SnapshotWritings;

/** A snapshot on one node: memory of its own, or mapped memory of another node. */
final class SimulatedSnapshot implements SnapshotSlots.Snapshot {
    /** Memory that others may have mapped: they see the owner's writes, also after its end. */
    private static final class Memory {
        private final SnapshotWritings writings = new SnapshotWritings();
        private long weights;
    }

    private final Memory memory;
    private final boolean isOwn;
    private boolean isClosed;

    private SimulatedSnapshot(Memory memory, boolean isOwn) {
        this.memory = memory;
        this.isOwn = isOwn;
    }

    static SimulatedSnapshot own() {
        return new SimulatedSnapshot(new Memory(), true);
    }

    /** Returns the same, mapped on another node. */
    SimulatedSnapshot mapped() {
        return new SimulatedSnapshot(memory, false);
    }

    boolean isBy(SimulatedSnapshot other) {
        return memory == other.memory;
    }

    /** Begins to overwrite it; returns the number of the writing. */
    long begin(long stepsDone) {
        return memory.writings.begin(stepsDone);
    }

    /** Ends a writing; false if another has begun since, or the memory is freed. */
    boolean end(long writing, long weights) {
        boolean isOurs = !isClosed && memory.writings.isInProgress(writing);
        if (isOurs) {
            memory.weights = weights;
            memory.writings.end();
        }
        return isOurs;
    }

    /** Returns the number of the writing that made the state of a step; negative if the snapshot has another state. */
    long writingOf(long stepsDone) {
        return isClosed ? -1 : memory.writings.writingOf(stepsDone);
    }

    /** Returns whether it still holds the state of a writing. */
    boolean isWhole(long writing) {
        return !isClosed && memory.writings.isWhole(writing);
    }

    long weights() {
        return memory.weights;
    }

    @Override
    public long stepsDone() {
        return isClosed ? -1 : memory.writings.stepsDone();
    }

    @Override
    public boolean isSince(long steps) {
        return !isClosed && memory.writings.isSince(steps);
    }

    @Override
    public boolean isOwn() {
        return isOwn;
    }

    @Override
    public void close() {
        isClosed = true;
    }
}
