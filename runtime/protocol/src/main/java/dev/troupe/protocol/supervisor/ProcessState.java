package dev.troupe.protocol.supervisor;

/** The state of a node's process. */
public enum ProcessState {
    RUNNING,
    /** The process ended with the run, at its last step. */
    DONE,
    /** The process ended with a run that was stopped before its last step. */
    STOPPED,
    /** The process gave up the run by itself. */
    FAILED,
    /** The request of the process was wrong. */
    REFUSED,
    /** The process was killed, or crashed. */
    LOST;

    /** Returns whether the process ended with the run, at its last step or before. */
    boolean isOver() {
        return this == DONE || this == STOPPED;
    }

    /** Returns whether the process ended before the run. */
    boolean hasFailed() {
        return this == FAILED || this == REFUSED || this == LOST;
    }
}
