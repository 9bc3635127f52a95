package dev.troupe.protocol.supervisor;

import java.util.OptionalLong;

/**
 * The restarts of a whole run, from one launch of its processes to the next: a number in a row with no new checkpoint
 * between, since a run that always fails before its next checkpoint would start again for ever. One thread at a time.
 */
public final class RunRestarts {
    private final boolean recovers;
    private final int mostInARow;
    private OptionalLong checkpoint;
    private int inARow;

    /**
     * @param recovers whether a run may continue after a failure at all
     * @param checkpoint the steps of the newest checkpoint before the first launch
     */
    public RunRestarts(boolean recovers, int mostInARow, OptionalLong checkpoint) {
        this.recovers = recovers;
        this.mostInARow = mostInARow;
        this.checkpoint = checkpoint;
    }

    /**
     * Returns whether a run that has lost a process is to start again, and counts the restart. Without a checkpoint it
     * begins again, with the same bits.
     *
     * @param newest the steps of the newest checkpoint now
     */
    boolean next(OptionalLong newest) {
        inARow = newest.equals(checkpoint) ? inARow + 1 : 1;
        checkpoint = newest;
        return recovers && inARow <= mostInARow;
    }
}
