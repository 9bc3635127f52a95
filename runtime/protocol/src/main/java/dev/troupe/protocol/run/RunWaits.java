package dev.troupe.protocol.run;

import dev.troupe.protocol.Pass;
import dev.troupe.protocol.checkpoint.CheckpointWay;
import dev.troupe.protocol.replica.ReplicaTable;
import java.util.BitSet;
import java.util.List;

/**
 * The waits of a run in its current phase: for ranks, for copies of their snapshots, for a checkpoint.
 *
 * @param pass the pass in progress, or the last one; null before the first
 * @param answered the ranks that have updated their weights in this phase
 */
record RunWaits(RunPhase phase, Pass pass, BitSet answered, Epochs epochs, StepProgress step, ReplicaTable replicas,
        RunCheckpoints checkpoints) {
    /** Returns the ranks that the phase waits for: to become ready in the epoch or, once all are ready, to answer. */
    List<Integer> missing() {
        return epochs.allRanks().stream()
                .filter(rank -> !epochs.isReady()
                        ? epochs.awaits(rank)
                        : !(phase == RunPhase.UPDATING ? answered.get(rank) : step.hasMeasured(rank, pass)))
                .toList();
    }

    /** Returns the ranks without copies of the last commit, for which the next update waits. */
    List<Integer> copiesOf() {
        return phase == RunPhase.TRAINING && step.isLastOfPass() && step.isMeasured(pass)
                ? replicas.uncopied(step.stepsDone())
                : List.of();
    }

    /** Returns whether the run waits for a checkpoint that is written during training. */
    boolean isForCheckpoint() {
        return checkpoints.isInProgress(CheckpointWay.DURING_TRAINING) && switch (phase) {
            case CHECKPOINT, FAILING -> true;
            case UPDATING -> !answered.isEmpty() && checkpoints.holdsUpCommit();
            case TRAINING -> step.isMeasured(pass) && checkpoints.holdsUpUpdate();
            case STARTING, FAILING_OVER, VALIDATION, OVER -> false;
        };
    }

    boolean isOver() {
        return switch (phase) {
            case TRAINING -> step.isMeasured(pass) && copiesOf().isEmpty() && !checkpoints.holdsUpUpdate();
            case VALIDATION -> step.isMeasured(pass);
            case UPDATING -> answered.cardinality() == epochs.allRanks().size() && !checkpoints.holdsUpCommit();
            case CHECKPOINT -> !checkpoints.isInProgress();
            case STARTING, FAILING_OVER, FAILING, OVER -> false;
        };
    }
}
