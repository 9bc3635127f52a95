package dev.troupe.protocol.node;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.FixedOrder;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.run.RunEvent;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** An event of a node. */
public sealed interface NodeEvent {
    /** An order of a coordinator, which reaches the machine as {@link Ordered}. */
    sealed interface Order {
    }

    /**
     * A coordinator gives an order.
     *
     * @param term the term of the coordinator; a later coordinator of the run has a higher one
     */
    record Ordered(int term, Order order) implements NodeEvent {
    }

    /** Obey no earlier coordinator from now on, and ask this one again. */
    record Follow() implements Order {
    }

    /** Run each kernel of the node's ranks once, and continue to wait for ranks: the run has not begun. */
    record RunKernels() implements Order {
    }

    /**
     * Host the ranks that live on this node.
     *
     * @param since for each node that has gained or lost ranks, the epoch of the last change
     */
    record HostRanks(int epoch, List<String> hosts, Map<String, Integer> since, String directory) implements Order {
        public HostRanks {
            hosts = List.copyOf(hosts);
            since = FixedOrder.copyOf(since);
        }
    }

    /**
     * Begin an epoch, and restart the ranks of {@code restarted} that this node hosts.
     *
     * @param stepsDone the steps done of the commit from which ranks restart
     * @param hosts the node of each rank from now on
     * @param since for each node that has gained or lost ranks, the epoch of the last change
     */
    record EnterEpoch(int epoch, List<Integer> restarted, long stepsDone, List<String> hosts,
            Map<String, Integer> since) implements Order {
        public EnterEpoch {
            restarted = List.copyOf(restarted);
            hosts = List.copyOf(hosts);
            since = FixedOrder.copyOf(since);
        }
    }

    /**
     * Copy the snapshots of the node's ranks to their buddies from now on, the last commit's at once.
     *
     * @param stepsDone the steps of the last commit
     * @param buddies the node that keeps the copies of each rank; empty text for none
     * @param receiverIds the number of the stream on which each node receives copies, by name
     */
    record KeepCopies(long stepsDone, List<String> buddies, Map<String, Integer> receiverIds) implements Order {
        public KeepCopies {
            buddies = List.copyOf(buddies);
            receiverIds = FixedOrder.copyOf(receiverIds);
        }
    }

    /** The run has committed a step. */
    record Committed(Commit commit) implements Order {
    }

    /** Write these ranks' parts of a checkpoint from their snapshots. */
    record WriteParts(CheckpointAttempt attempt, List<Integer> ranks) implements Order {
        public WriteParts {
            ranks = List.copyOf(ranks);
        }
    }

    /** The run is over, for the reason in this sentence if it failed. */
    record RunEnded(long stepsDone, Optional<String> failure) implements Order {
    }

    /**
     * A coordinator refuses this node. The message has no term, since a node of another version must be able to read it.
     */
    record Refused(String why) implements NodeEvent {
    }

    /** The node has started. */
    record Begin() implements NodeEvent {
    }

    /** It is time to ask the coordinator for ranks. */
    record AskDue() implements NodeEvent {
    }

    /** The time of {@link NodeCommand.Await} has passed. */
    record PatienceOver() implements NodeEvent {
    }

    /** The launcher sees that another node is still starting, so the wait for ranks restarts. */
    record OthersStart() implements NodeEvent {
    }

    /** The user asks a node to stop that still waits for ranks. */
    record StopWaiting() implements NodeEvent {
    }

    /**
     * The directory of the run is open.
     *
     * @param firstStep the steps done by the weights from which the run starts
     * @param kept the node's snapshots; empty for a run that keeps none
     * @param warmsUp whether a node without ranks warms up
     */
    record Opened(long firstStep, List<List<Integer>> tensorGroups, Optional<KeptSnapshots> kept,
            boolean warmsUp) implements NodeEvent {
    }

    /** The node cannot host ranks. */
    record CannotOpen(String why) implements NodeEvent {
    }

    /** A copy of a stage of another node's rank has arrived here. */
    record CopyArrived(int rank, long stepsDone) implements NodeEvent {
    }

    /** A coordinator has ended. */
    record CoordinatorLost(int term, boolean wasHere) implements NodeEvent {
    }

    /** A group has ended, or could not start; none of its threads uses its memory. */
    record GroupEnded(RankGroup group) implements NodeEvent {
    }

    /** A group has ended by its own failure. */
    record GroupFailed(RankGroup group, RunEvent.RankFailed failure) implements NodeEvent {
    }

    /** A device of this process is lost, and with it all ranks of the node. */
    record DeviceLost(String why) implements NodeEvent {
    }

    /** All memory of a given-up group is free. */
    record MemoryFreed(RankGroup group) implements NodeEvent {
    }

    /** It is time to free the memory of given-up groups. */
    record LookDue() implements NodeEvent {
    }

    /** The process ends. */
    record Halt() implements NodeEvent {
    }

    /** The time for groups to end has passed. */
    record EndOverdue() implements NodeEvent {
    }

    /** All groups have ended, and the node must end at once. */
    record AllEnded() implements NodeEvent {
    }
}
