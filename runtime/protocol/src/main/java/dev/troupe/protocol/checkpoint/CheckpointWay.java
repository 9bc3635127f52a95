package dev.troupe.protocol.checkpoint;

/** The way a checkpoint is written: with the run waiting for it, or not. */
public enum CheckpointWay {
    /** Nodes write the parts from the snapshots of their ranks, while the run computes the next steps. */
    BESIDE,
    /** Ranks write their parts between two steps, and the run waits. */
    AWAITED
}
