package dev.troupe.machine;

import java.util.List;

/** What the coordinator wants done. */
public sealed interface CoordinatorCommand {
    /** Every rank is to walk its row. */
    record StartPass(Pass pass) implements CoordinatorCommand {
    }

    /** Every rank is to step its optimizer. */
    record Update(WeightUpdate update) implements CoordinatorCommand {
    }

    /** A step's new weights stand everywhere. */
    record CommitStep(StepResult result) implements CoordinatorCommand {
    }

    /** The mean loss on held-out data after so many steps. */
    record ReportHeldOut(long stepsDone, double loss) implements CoordinatorCommand {
    }

    /** Every rank is to write its part of a checkpoint. */
    record WriteCheckpoint(long stepsDone) implements CoordinatorCommand {
    }

    /** All parts are written: make the checkpoint one, with the scale that the next step has. */
    record CommitCheckpoint(long stepsDone, LossScale lossScale,
            List<CheckpointPart> parts) implements CoordinatorCommand {
        public CommitCheckpoint {
            parts = List.copyOf(parts);
        }
    }

    /** The run is over. */
    record Finish(long stepsDone) implements CoordinatorCommand {
    }

    /** The run cannot go on, for the reason in this sentence. */
    record Fail(String reason) implements CoordinatorCommand {
    }
}
