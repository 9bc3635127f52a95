package dev.troupe.protocol.run;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.FixedOrder;
import dev.troupe.protocol.MessageKeys;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.protocol.checkpoint.CheckpointEvent;
import java.util.List;
import java.util.Map;

/** A command of the coordinator to its shell. */
public sealed interface RunCommand {
    /**
     * These ranks are to walk their rows.
     *
     * @param updates the updates of the first steps, if they are decided before the pass begins
     */
    record StartPass(Pass pass, List<WeightUpdate> updates, List<Integer> ranks) implements RunCommand {
        public StartPass {
            updates = List.copyOf(updates);
            ranks = List.copyOf(ranks);
        }

        /** Creates the start of a pass without decided updates. */
        public StartPass(Pass pass, List<Integer> ranks) {
            this(pass, List.of(), ranks);
        }
    }

    /** These ranks are to step their optimizers. */
    record Update(WeightUpdate update, List<Integer> ranks) implements RunCommand {
        public Update {
            ranks = List.copyOf(ranks);
        }
    }

    /**
     * The new weights of a step, or of all steps of a pass, are in place everywhere: notify every node.
     *
     * @param results of each step, in their order
     */
    record CommitStep(List<StepResult> results, Commit commit) implements RunCommand {
        public CommitStep {
            results = List.copyOf(results);
        }

        public CommitStep(StepResult result, Commit commit) {
            this(List.of(result), commit);
        }
    }

    /**
     * Send the last commit to a node that joins. A node that does not know the commit cannot report it to the next
     * coordinator, and its copies of the ranks' states are of no use then.
     */
    record TellCommit(String node, Commit commit) implements RunCommand {
    }

    /** The mean loss on validation data after {@code stepsDone} steps. */
    record ReportValidation(long stepsDone, double loss) implements RunCommand {
    }

    /** Pass this event of the checkpoint that the run requests, or has in progress, to its machine. */
    record TellCheckpoint(CheckpointEvent event) implements RunCommand {
    }

    /** The run continues without this checkpoint, for the reason in this sentence. */
    record ReportCheckpointFailed(long stepsDone, String why) implements RunCommand {
    }

    /**
     * A failure, for this reason: every node is to begin an epoch, and to restart these ranks with the weights after the
     * steps of a commit; each rank answers {@link RunEvent.EpochReady}.
     *
     * @param hosts the node of each rank from now on
     * @param since for each node with other ranks than at first, the epoch of the change
     */
    record EnterEpoch(int epoch, List<Integer> restarted, long stepsDone, String reason, List<String> hosts,
            Map<String, Integer> since) implements RunCommand {
        public EnterEpoch {
            restarted = List.copyOf(restarted);
            hosts = List.copyOf(hosts);
            since = FixedOrder.copyOf(since);
        }
    }

    /**
     * Every node is to copy its ranks' snapshots to other nodes, the ones of a commit at once.
     *
     * @param buddies for each rank the node that keeps its copies; empty text for none
     */
    record KeepCopies(long stepsDone, List<String> buddies) implements RunCommand {
        public KeepCopies {
            buddies = List.copyOf(buddies);
        }
    }

    /**
     * All ranks are ready in the epoch: each is to send the messages of the pass again that the others lack.
     *
     * @param pass the {@linkplain Pass#number number} of the pass in progress; -1 between two passes, when nothing is sent
     *     again
     * @param received the messages of it that the others have, by sender
     */
    record Resume(int epoch, long pass, Map<Integer, MessageKeys> received) implements RunCommand {
        public Resume {
            received = FixedOrder.copyOf(received);
        }

        /** Returns the messages that the others have received from a rank. */
        public MessageKeys from(int rank) {
            return received.getOrDefault(rank, MessageKeys.NONE);
        }
    }

    /** The restarted ranks have caught up. */
    record ReportCaughtUp() implements RunCommand {
    }

    /** The run is over. */
    record Finish(long stepsDone) implements RunCommand {
    }

    /** The run has to end, for the reason in this sentence. */
    record Fail(String reason) implements RunCommand {
    }
}
