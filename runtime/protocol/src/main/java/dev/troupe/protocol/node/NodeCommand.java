package dev.troupe.protocol.node;

import dev.troupe.protocol.FixedOrder;
import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.run.RunEvent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A command of a {@link NodeMachine}. */
public sealed interface NodeCommand {
    /** A command of the node's timers, or a message to the coordinator, the log or the process. */
    sealed interface OfLink extends NodeCommand {
    }

    /** A command on the run that the node has opened. */
    sealed interface OfRun extends NodeCommand {
    }

    /** Report {@link NodeEvent.PatienceOver} after this time; it replaces an earlier wait. */
    record Await(Duration patience) implements OfLink {
    }

    /** Report {@link NodeEvent.AskDue} at once, and at short intervals from then on. */
    record StartAsking() implements OfLink {
    }

    /** End the wait and the reports of {@link NodeEvent.AskDue}. */
    record StopAsking() implements OfLink {
    }

    /**
     * Ask the coordinator for ranks.
     *
     * @param term the latest term that the node has received; 0 for none. The node obeys no earlier one, so a coordinator of
     *     this term can rely on the report.
     * @param report the node's report on the run, if it takes part already
     * @param runsKernels whether to add the progress of the node's kernels
     */
    record Ask(int term, Optional<NodeReport> report, boolean runsKernels) implements OfLink {
    }

    /** Report an event of the run to the coordinator. */
    record Report(RunEvent event) implements OfLink {
    }

    /**
     * Remove this node from the run: end its process as if it were killed. If the whole run is in the process, report the
     * loss to the coordinator instead.
     */
    record Abandon(String why) implements OfLink {
    }

    /** Mark the log lines from now on with this epoch and these committed steps. */
    record Reach(int epoch, long stepsDone) implements OfLink {
    }

    /** Write a line about the node. */
    record Log(String line) implements OfLink {
    }

    /** Report that the run is over for this node, with the reason if it failed. */
    record End(long stepsDone, Optional<String> failure) implements OfLink {
    }

    /** Report that the node takes no part in the run. */
    record Refuse(String why) implements OfLink {
    }

    /** Report {@link NodeEvent.LookDue} after a moment. */
    record LookLater() implements OfLink {
    }

    /** Report {@link NodeEvent.EndOverdue} after the longest time that a group may need to end. */
    record AwaitEnds() implements OfLink {
    }

    /** Warm up with the work of ranks that the node may take over. */
    record WarmUp() implements OfRun {
    }

    /** End the warm-up, and free its memory. */
    record EndWarmUp() implements OfRun {
    }

    /** Start a group with the weights after {@code stepsDone} steps, and report its end. */
    record Start(RankGroup group, long stepsDone) implements OfRun {
    }

    /** Give up a group, which has no effect on other ranks from now on, and report its end. */
    record GiveUp(RankGroup group, long stepsDone) implements OfRun {
    }

    /** Free the memory of an ended group that the transport no longer uses; report when all of it is free. */
    record Free(RankGroup group) implements OfRun {
    }

    /** Abort all copies to and from a node that has lost ranks. */
    record BreakOffCopies(String node) implements OfRun {
    }

    /** Begin an epoch in the transport and in the collectives, with the nodes of all ranks. */
    record BeginEpoch(int epoch, List<String> hosts, Map<String, Integer> since) implements OfRun {
    }

    /** Send copies of each of these ranks' snapshots to its buddy, and none of other ranks. */
    record Route(Map<Integer, Buddy> buddies) implements OfRun {
        /**
         * A node that keeps copies.
         *
         * @param receiverId the number of the stream on which it receives copies
         */
        public record Buddy(String node, int receiverId) {
        }
    }

    /** Send copies of these ranks' snapshots of a step, if they exist. */
    record SendCopies(List<Integer> ranks, long stepsDone) implements OfRun {
    }

    /** Forget the snapshots of these ranks if all are of fewer steps. */
    record ForgetSnapshots(List<Integer> ranks, long before) implements OfRun {
    }

    /** Write these ranks' parts of a checkpoint, and report each to the coordinator. */
    record WriteParts(CheckpointAttempt attempt, List<Integer> ranks) implements OfRun {
    }

    /** Open the directory of the run. {@link NodeEvent.Opened} or {@link NodeEvent.CannotOpen} is the next event. */
    record Open(String directory) implements NodeCommand {
    }

    /** Close the transport and end all groups, so that no rank waits for another. */
    record LetGo() implements NodeCommand {
    }

    /** Free all memory of the node except the memory of these groups, which have not ended. */
    record Release(Set<RankGroup> running) implements NodeCommand {
        public Release {
            running = FixedOrder.copyOf(running);
        }
    }

    /** End the node's actor. */
    record Stop() implements NodeCommand {
    }
}
