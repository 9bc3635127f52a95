package dev.troupe.protocol.checkpoint;

import dev.troupe.protocol.LossScale;
import java.util.List;
import java.util.Optional;

/** A command of the checkpoint's machine to its shell. */
public sealed interface CheckpointCommand {
    /**
     * Order every node to write the parts of its ranks from their snapshots; {@link CheckpointEvent.PartWritten} or {@link
     * CheckpointEvent.PartFailed} answers for each rank.
     *
     * @param hosts for each rank its node
     */
    record WriteFromSnapshots(CheckpointAttempt attempt, List<String> hosts) implements CheckpointCommand {
        public WriteFromSnapshots {
            hosts = List.copyOf(hosts);
        }
    }

    /**
     * Order these ranks to write their parts. {@link CheckpointEvent.PartWritten} or {@link CheckpointEvent.PartFailed}
     * answers for each; {@link CheckpointEvent.Refused} for all, if the disk lacks space.
     */
    record HaveRanksWrite(CheckpointAttempt attempt, List<Integer> ranks) implements CheckpointCommand {
        public HaveRanksWrite {
            ranks = List.copyOf(ranks);
        }
    }

    /**
     * Commit the checkpoint, after all parts are written, with the loss scale of the next step; {@link
     * CheckpointEvent.Complete} or {@link CheckpointEvent.Refused} answers.
     */
    record CommitParts(CheckpointAttempt attempt, LossScale lossScale,
            List<CheckpointPart> parts) implements CheckpointCommand {
        public CommitParts {
            parts = List.copyOf(parts);
        }
    }

    /** Delete the files of a checkpoint; {@link CheckpointEvent.Deleted} answers. */
    record Delete(CheckpointAttempt attempt) implements CheckpointCommand {
    }

    record ReportWritten(long stepsDone) implements CheckpointCommand {
    }

    /** Report that the run continues without this checkpoint. */
    record ReportFailed(long stepsDone, String why) implements CheckpointCommand {
    }

    /**
     * Report to the run that no update can overwrite a state that this checkpoint, written during training, still needs.
     */
    record ReportPinned(CheckpointAttempt attempt) implements CheckpointCommand {
    }

    /**
     * Report to the run that all work on this checkpoint has ended.
     *
     * @param isWritten whether it is complete on disk
     * @param failure the reason why it is not, if the run waits for it
     */
    record ReportSettled(CheckpointAttempt attempt, boolean isWritten,
            Optional<String> failure) implements CheckpointCommand {
    }
}
