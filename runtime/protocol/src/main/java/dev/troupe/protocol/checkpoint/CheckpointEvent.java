package dev.troupe.protocol.checkpoint;

import dev.troupe.protocol.LossScale;
import java.util.List;

/** An event of a checkpoint. */
public sealed interface CheckpointEvent {
    /**
     * The run wants a checkpoint of its last commit.
     *
     * @param lossScale the scale of the next step
     * @param hosts for each rank the node with its snapshot
     */
    record Wanted(CheckpointAttempt attempt, LossScale lossScale, List<String> hosts) implements CheckpointEvent {
        public Wanted {
            hosts = List.copyOf(hosts);
        }
    }

    /** These ranks were started again and are ready; a part that one of them had not written is to be written again. */
    record RanksRestarted(List<Integer> ranks) implements CheckpointEvent {
        public RanksRestarted {
            ranks = List.copyOf(ranks);
        }
    }

    /** The run goes back before the commit of the checkpoint that it waits for. */
    record Withdrawn() implements CheckpointEvent {
    }

    /** A node holds the snapshots of these ranks at the commit, for their parts: no later update overwrites them. */
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

    /** A rank's part cannot be written, for the reason in this sentence. */
    record PartFailed(CheckpointAttempt attempt, int rank, String why) implements CheckpointEvent {
    }

    /** The checkpoint is committed. */
    record Stands(CheckpointAttempt attempt) implements CheckpointEvent {
    }

    /** The checkpoint cannot be committed, or not be begun, for the reason in this sentence. */
    record Refused(CheckpointAttempt attempt, String why) implements CheckpointEvent {
    }

    record Deleted(CheckpointAttempt attempt) implements CheckpointEvent {
    }

    /** A node has left, for the reason in this sentence. */
    record NodeGone(String node, String reason) implements CheckpointEvent {
    }

    /** The run has waited for the checkpoint in progress for as long as it may. */
    record Overdue() implements CheckpointEvent {
    }
}
