package dev.troupe.protocol.supervisor;

/** The end of a run on one machine. */
public enum MachineEnd {
    DONE, FAILED,
    /** The request was wrong; no step was computed. */
    REFUSED,
    /** The run was stopped before its last step. */
    STOPPED
}
