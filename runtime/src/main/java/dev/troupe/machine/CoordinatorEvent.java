package dev.troupe.machine;

import dev.troupe.model.LayerSquaredSum;
import java.util.List;

/** What happens to a run. */
public sealed interface CoordinatorEvent {
    /** A rank has loaded its weights. */
    record RankReady(int rank) implements CoordinatorEvent {
    }

    /** A rank has done its row; losses from the rank of the last stage, squared sums after a training pass. */
    record PassDone(int rank, Pass pass, List<MicrobatchLoss> losses, List<LayerSquaredSum> squaredSums)
            implements
                CoordinatorEvent {
        public PassDone {
            losses = List.copyOf(losses);
            squaredSums = List.copyOf(squaredSums);
        }
    }

    /** The new weights of a rank stand; with what it sent since the update before. */
    record Updated(int rank, long step, Traffic traffic) implements CoordinatorEvent {
    }

    /** A rank has written its part of a checkpoint. */
    record CheckpointPartWritten(int rank, CheckpointPart part) implements CoordinatorEvent {
    }

    /** The user wants the run to end after this step. */
    record StopRequested() implements CoordinatorEvent {
    }
}
