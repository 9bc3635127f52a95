package dev.troupe.schedule;

/** The resource that an action needs in addition to the engine of its rank. */
public enum Resource {
    /** Nothing else. */
    COMPUTE,
    /** The other end of a channel between two stages. */
    LINK,
    /** The other ranks that hold the stage or a share of it. */
    GROUP,
    /** The coordinator's decision, which follows from the norms of all ranks. */
    DECISION
}
