package dev.troupe.protocol.checkpoint;

import dev.troupe.protocol.LossScale;
import java.util.List;

/** What is to be done for checkpoints that are written beside training. */
public sealed interface CheckpointCommand {
    /**
     * Every node is to write the parts of the ranks that it has, from what they kept;
     * {@link CheckpointEvent.PartWritten} or {@link CheckpointEvent.PartFailed} answers for each rank.
     *
     * @param hosts
     *            for each rank its node
     */
    record WriteParts(CheckpointAttempt attempt, List<String> hosts) implements CheckpointCommand {
        public WriteParts {
            hosts = List.copyOf(hosts);
        }
    }

    /**
     * All parts are written: make the checkpoint one, with the scale that the next step has;
     * {@link CheckpointEvent.Stands} or {@link CheckpointEvent.Refused} answers.
     */
    record CommitParts(CheckpointAttempt attempt, LossScale lossScale,
            List<CheckpointPart> parts) implements CheckpointCommand {
        public CommitParts {
            parts = List.copyOf(parts);
        }
    }

    /** Delete what was written of it; {@link CheckpointEvent.Deleted} answers. */
    record Delete(CheckpointAttempt attempt) implements CheckpointCommand {
    }

    /** It stands. */
    record ReportStands(long stepsDone) implements CheckpointCommand {
    }

    /** The run goes on without it, for the reason in this sentence. */
    record ReportFailed(long stepsDone, String why) implements CheckpointCommand {
    }
}
