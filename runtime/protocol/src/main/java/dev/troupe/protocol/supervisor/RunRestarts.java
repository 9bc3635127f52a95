package dev.troupe.protocol.supervisor;

import java.util.OptionalLong;

/**
 * The restarts of a whole run, with a limit on restarts in a row without a new checkpoint, since a run that always fails
 * before its next checkpoint would restart for ever. One thread at a time.
 */
public final class RunRestarts {
    private final boolean recovers;
    private final int mostInARow;
    private OptionalLong checkpoint;
    private int inARow;

    /**
     * @param recovers whether the run may recover from failures
     * @param checkpoint the steps of the newest checkpoint before the first launch
     */
    public RunRestarts(boolean recovers, int mostInARow, OptionalLong checkpoint) {
        this.recovers = recovers;
        this.mostInARow = mostInARow;
        this.checkpoint = checkpoint;
    }

    /**
     * Returns whether a run that has lost a process is to restart, and counts the restart. Without a checkpoint it restarts
     * from its first step, with the same bits.
     *
     * @param newest the steps of the newest checkpoint now
     */
    boolean next(OptionalLong newest) {
        inARow = newest.equals(checkpoint) ? inARow + 1 : 1;
        checkpoint = newest;
        return recovers && inARow <= mostInARow;
    }
}
