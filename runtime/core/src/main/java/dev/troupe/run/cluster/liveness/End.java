package dev.troupe.run.cluster.liveness;

/** The ways in which the process of a node ends. */
public enum End {
    /** The process sent a goodbye. */
    IN_ORDER,
    /** The connection closed without a goodbye, and its port is closed, or belongs to a later process. */
    WITHOUT_A_WORD
}
