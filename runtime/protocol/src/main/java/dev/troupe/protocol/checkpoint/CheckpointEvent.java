package dev.troupe.protocol.checkpoint;

import dev.troupe.protocol.LossScale;
import java.util.List;

/** An event of a checkpoint. */
public sealed interface CheckpointEvent {
    /**
     * The run wants a checkpoint of its last commit.
     *
     * @param lossScale of the next step
     * @param hosts for each rank the node that has its snapshot
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

    /** A node holds what these ranks kept at the commit, for their parts: no later update overwrites it. */
    record Pinned(CheckpointAttempt attempt, List<Integer> ranks) implements CheckpointEvent {
        public Pinned {
            ranks = List.copyOf(ranks);
        }
    }

    /** A node writes a part: bytes have moved since its last event. */
    record Moving(CheckpointAttempt attempt) implements CheckpointEvent {
    }

    /** A rank's part is written. */
    record PartWritten(CheckpointAttempt attempt, int rank, CheckpointPart part) implements CheckpointEvent {
    }

    /** A rank's part cannot be written, for the reason in this sentence. */
    record PartFailed(CheckpointAttempt attempt, int rank, String why) implements CheckpointEvent {
    }

    /** The checkpoint that was to be committed is written. */
    record Stands(CheckpointAttempt attempt) implements CheckpointEvent {
    }

    /** The checkpoint cannot be committed, or not be begun, for the reason in this sentence. */
    record Refused(CheckpointAttempt attempt, String why) implements CheckpointEvent {
    }

    /** Its files are deleted. */
    record Deleted(CheckpointAttempt attempt) implements CheckpointEvent {
    }

    /** A node is gone, for the reason in this sentence. */
    record NodeGone(String node, String reason) implements CheckpointEvent {
    }

    /** The run has waited for the checkpoint in progress for as long as it may. */
    record Overdue() implements CheckpointEvent {
    }
}
