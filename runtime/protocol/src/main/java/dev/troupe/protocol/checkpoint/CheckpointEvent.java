package dev.troupe.protocol.checkpoint;

import dev.troupe.protocol.Commit;
import java.util.List;

/** What happens to checkpoints that are written beside training. */
public sealed interface CheckpointEvent {
    /**
     * A step is committed.
     *
     * @param hosts
     *            for each rank the node that has what it kept
     */
    record Committed(Commit commit, int epoch, List<String> hosts) implements CheckpointEvent {
        public Committed {
            hosts = List.copyOf(hosts);
        }
    }

    /** A node goes on writing a part: bytes have moved since it said so last. */
    record Moving(CheckpointAttempt attempt) implements CheckpointEvent {
    }

    /** A node has written a rank's part. */
    record PartWritten(CheckpointAttempt attempt, int rank, CheckpointPart part) implements CheckpointEvent {
    }

    /** A node cannot write a rank's part, for the reason in this sentence. */
    record PartFailed(CheckpointAttempt attempt, int rank, String why) implements CheckpointEvent {
    }

    /** What was to be committed stands. */
    record Stands(CheckpointAttempt attempt) implements CheckpointEvent {
    }

    /** What was to be committed cannot be, for the reason in this sentence. */
    record Refused(CheckpointAttempt attempt, String why) implements CheckpointEvent {
    }

    /** What was written of it is deleted. */
    record Deleted(CheckpointAttempt attempt) implements CheckpointEvent {
    }

    /** A node is gone, for the reason in this sentence. */
    record NodeGone(String node, String reason) implements CheckpointEvent {
    }

    /** The run has waited for the one under way for as long as it may. */
    record Overdue() implements CheckpointEvent {
    }

    /** The last checkpoint is so old that the next commit is to have one. */
    record TimeIsUp() implements CheckpointEvent {
    }

    /** The run is to end after the step under way, with a checkpoint that its ranks write. */
    record Ending() implements CheckpointEvent {
    }
}
