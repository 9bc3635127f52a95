package dev.troupe.protocol.checkpoint;

/** The way in which a checkpoint is written. */
public enum CheckpointWay {
    /** Nodes write the parts from the snapshots of their ranks, while the run computes the next steps. */
    DURING_TRAINING,
    /** Ranks write their parts between two steps, and the run waits. */
    AWAITED
}
