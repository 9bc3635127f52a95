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

    /** Report {@link NodeEvent.PatienceOver} after this time; an earlier wait ends. */
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
     * @param term the latest term that the node has received; 0 for none. The node obeys no earlier one, so the report is
     *     final for a coordinator of this term.
     * @param report the node's report on the run, if it takes part already
     * @param runsKernels whether the progress of the node's kernels belongs to the question
     */
    record Ask(int term, Optional<NodeReport> report, boolean runsKernels) implements OfLink {
    }

    /** Report an event of the run to the coordinator. */
    record Report(RunEvent event) implements OfLink {
    }

    /**
     * Have the run lose this node, for the reason in this sentence: its process ends as if it were killed; if the whole run
     * is in the process, this is reported to the coordinator.
     */
    record Abandon(String why) implements OfLink {
    }

    /** The lines that the node writes from now on are of this epoch and these committed steps. */
    record Reach(int epoch, long stepsDone) implements OfLink {
    }

    /** Write a line about the node. */
    record Log(String line) implements OfLink {
    }

    /** The run is over for this node, for the reason in this sentence if it failed. */
    record End(long stepsDone, Optional<String> failure) implements OfLink {
    }

    /** The node takes no part in the run, for the reason in this sentence. */
    record Refuse(String why) implements OfLink {
    }

    /** Report {@link NodeEvent.LookDue} after a moment. */
    record LookLater() implements OfLink {
    }

    /** Report {@link NodeEvent.EndOverdue} after the longest time that a group may take to end. */
    record AwaitEnds() implements OfLink {
    }

    /** Warm up the work that the node may take over. */
    record WarmUp() implements OfRun {
    }

    /** End the warm-up, and free its memory. */
    record EndWarmUp() implements OfRun {
    }

    /** Start a group with the weights after {@code stepsDone} steps, and report its end. */
    record Start(RankGroup group, long stepsDone) implements OfRun {
    }

    /** Give a group up: it has no effect on other ranks from now on, and its end is reported. */
    record GiveUp(RankGroup group, long stepsDone) implements OfRun {
    }

    /** Free the memory of a group that has ended, as far as the transport has let go of it; report when all is free. */
    record Free(RankGroup group) implements OfRun {
    }

    /** A node has lost ranks: break off all copies to it and from it. */
    record BreakOffCopies(String node) implements OfRun {
    }

    /** Begin an epoch in the transport and in the collectives, with the nodes of all ranks. */
    record BeginEpoch(int epoch, List<String> hosts, Map<String, Integer> since) implements OfRun {
    }

    /** From now on send copies of each of these ranks' snapshots to its buddy, and of no other rank. */
    record Route(Map<Integer, Buddy> buddies) implements OfRun {
        /**
         * A node that keeps copies.
         *
         * @param door the number of the stream on which it receives copies
         */
        public record Buddy(String node, int door) {
        }
    }

    /** Send copies of the snapshots that these ranks have of a step, as far as they exist. */
    record SendCopies(List<Integer> ranks, long stepsDone) implements OfRun {
    }

    /** Forget the snapshots of these ranks, if they are all of fewer steps. */
    record ForgetSnapshots(List<Integer> ranks, long before) implements OfRun {
    }

    /** Write these ranks' parts of a checkpoint, and report each to the coordinator. */
    record WriteParts(CheckpointAttempt attempt, List<Integer> ranks) implements OfRun {
    }

    /** Open the directory of the run. {@link NodeEvent.Opened} or {@link NodeEvent.CannotOpen} is the next event. */
    record Open(String directory) implements NodeCommand {
    }

    /** Close the transport, and have all groups end: no rank waits for another. */
    record LetGo() implements NodeCommand {
    }

    /** Free all memory of the node except for these groups, which have not ended. */
    record Release(Set<RankGroup> running) implements NodeCommand {
        public Release {
            running = FixedOrder.copyOf(running);
        }
    }

    /** End the node's actor. */
    record Stop() implements NodeCommand {
    }
}
