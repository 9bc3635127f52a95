package dev.troupe.protocol.replica;

/**
 * The content of a snapshot's memory: the state of its last writing, once that has ended, and nothing before. A reader or
 * writer of a part names its writing, and is refused when another has begun.
 *
 * <p>Thread rule: one caller at a time; {@link #stepsDone} any thread.
 */
public final class SnapshotWritings {
    private volatile long stepsDone = -1;
    private long writing;
    private long writingAfter = -1;

    /** Returns the steps done of the whole state; -1 while there is none. */
    public long stepsDone() {
        return stepsDone;
    }

    /** Begins to overwrite the memory with the state after {@code afterSteps} steps; returns the number of this writing. */
    public long begin(long afterSteps) {
        stepsDone = -1;
        writingAfter = afterSteps;
        return ++writing;
    }

    /** Returns whether a writing may continue: it is the last, and has not ended. */
    public boolean isUnderWay(long ofWriting) {
        return ofWriting == writing && stepsDone < 0;
    }

    /** Ends the last writing: its state is whole. */
    public void end() {
        stepsDone = writingAfter;
    }

    /** Returns whether the memory holds the whole state of a writing. */
    public boolean isWhole(long ofWriting) {
        return ofWriting == writing && stepsDone >= 0;
    }

    /** Returns the number of the writing of the whole state after {@code afterSteps} steps; -1 if it is not here. */
    public long writingOf(long afterSteps) {
        return stepsDone == afterSteps ? writing : -1;
    }

    /** Returns whether the last writing, ended or not, is of the state after {@code steps} steps or more. */
    public boolean isSince(long steps) {
        return writingAfter >= steps;
    }
}
