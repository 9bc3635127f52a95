package dev.troupe.protocol.checkpoint;

import dev.troupe.protocol.LossScale;
import java.util.List;

/** An event of a checkpoint. */
public sealed interface CheckpointEvent {
    /**
     * The run wants a checkpoint of its last commit.
     *
     * @param hosts for each rank the node with its snapshot
     */
    record Wanted(CheckpointAttempt attempt, LossScale lossScale, List<String> hosts) implements CheckpointEvent {
        public Wanted {
            hosts = List.copyOf(hosts);
        }
    }

    /** These ranks have restarted and are ready; parts that they had not written are written again. */
    record RanksRestarted(List<Integer> ranks) implements CheckpointEvent {
        public RanksRestarted {
            ranks = List.copyOf(ranks);
        }
    }

    /** The run goes back to a commit before the checkpoint that it waits for. */
    record Withdrawn() implements CheckpointEvent {
    }

    /**
     * A node has pinned the snapshots of these ranks at the commit: no later update overwrites them before their parts are
     * written.
     */
    record Pinned(CheckpointAttempt attempt, List<Integer> ranks) implements CheckpointEvent {
        public Pinned {
            ranks = List.copyOf(ranks);
        }
    }

    /** A node writes a part: bytes have moved since its last event. */
    record Moving(CheckpointAttempt attempt) implements CheckpointEvent {
    }

    record PartWritten(CheckpointAttempt attempt, int rank, CheckpointPart part) implements CheckpointEvent {
    }

    /** A rank's part cannot be written. */
    record PartFailed(CheckpointAttempt attempt, int rank, String why) implements CheckpointEvent {
    }

    /** The checkpoint is committed. */
    record Complete(CheckpointAttempt attempt) implements CheckpointEvent {
    }

    /** The checkpoint cannot begin, or cannot be committed. */
    record Refused(CheckpointAttempt attempt, String why) implements CheckpointEvent {
    }

    record Deleted(CheckpointAttempt attempt) implements CheckpointEvent {
    }

    record NodeGone(String node, String reason) implements CheckpointEvent {
    }

    /** The run has waited for the checkpoint for the longest time allowed. */
    record Overdue() implements CheckpointEvent {
    }
}
