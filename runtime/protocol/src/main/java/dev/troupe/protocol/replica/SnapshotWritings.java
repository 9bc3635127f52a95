package dev.troupe.protocol.replica;

/**
 * The state of a snapshot's memory: complete after its last writing has ended, and empty before. A reader or writer of a
 * part names its writing, and is refused if another has begun.
 *
 * <p>Thread rule: one caller at a time; {@link #stepsDone} any thread.
 */
public final class SnapshotWritings {
    private volatile long stepsDone = -1;
    private long writing;
    private long writingAfter = -1;

    /** Returns the steps done of the complete state; -1 if there is none. */
    public long stepsDone() {
        return stepsDone;
    }

    /** Begins to overwrite the memory with the state after {@code afterSteps} steps; returns the number of this writing. */
    public long begin(long afterSteps) {
        stepsDone = -1;
        writingAfter = afterSteps;
        return ++writing;
    }

    /** Returns whether a writing may continue: it is the last one, and has not ended. */
    public boolean isInProgress(long ofWriting) {
        return ofWriting == writing && stepsDone < 0;
    }

    /** Ends the last writing; its state is complete. */
    public void end() {
        stepsDone = writingAfter;
    }

    /** Returns whether the memory holds the complete state of a writing. */
    public boolean isWhole(long ofWriting) {
        return ofWriting == writing && stepsDone >= 0;
    }

    /**
     * Returns the number of the writing of the complete state after {@code afterSteps} steps; -1 if the memory holds
     * another.
     */
    public long writingOf(long afterSteps) {
        return stepsDone == afterSteps ? writing : -1;
    }

    /** Returns whether the last writing, ended or not, is of the state after {@code steps} steps or more. */
    public boolean isSince(long steps) {
        return writingAfter >= steps;
    }
}
