package dev.troupe.protocol.run;

/** The phases of a run; see {@link RunMachine}. */
enum RunPhase {
    STARTING, FAILING_OVER, TRAINING, UPDATING, VALIDATION, CHECKPOINT,
    /** The run ends with a failure as soon as the checkpoint in progress is settled. */
    FAILING, OVER
}
