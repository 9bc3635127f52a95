package dev.troupe.actor;

import dev.troupe.observe.EventLog;

/**
 * The progress of a run as far as a node knows, for the lines that the node writes. Each run of a JVM has its own. Any
 * thread may read and write.
 */
public final class RunPosition {
    private volatile int epoch;
    private volatile long stepsDone;
    private volatile boolean isOpen;

    /** The steps that were committed, as far as the node knows. */
    public long stepsDone() {
        return stepsDone;
    }

    /** Whether the node takes part in a run that has begun. */
    public boolean isOpen() {
        return isOpen;
    }

    /** Something happened to the node. */
    public void log(String event) {
        EventLog.ofRun(epoch, stepsDone, event);
    }

    void reach(int newEpoch, long steps) {
        epoch = newEpoch;
        stepsDone = steps;
        isOpen = true;
    }
}
