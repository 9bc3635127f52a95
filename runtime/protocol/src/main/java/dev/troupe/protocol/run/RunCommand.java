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
     * @param updates of the first steps of the pass, if they are decided before it begins
     */
    record StartPass(Pass pass, List<WeightUpdate> updates, List<Integer> ranks) implements RunCommand {
        public StartPass {
            updates = List.copyOf(updates);
            ranks = List.copyOf(ranks);
        }

        /** The begin of a pass of which nothing is decided. */
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
     * The new weights of a step, or of all steps of a pass, are in place everywhere; every node is to hear of it.
     *
     * @param results of each step, in their order
     */
    record CommitStep(List<StepResult> results, Commit commit) implements RunCommand {
        public CommitStep {
            results = List.copyOf(results);
        }

        /** The commit of one step. */
        public CommitStep(StepResult result, Commit commit) {
            this(List.of(result), commit);
        }
    }

    /**
     * Tell a node that joins of the last commit. A node that does not know the commit cannot report it to the next
     * coordinator, and its copies of the ranks' states are of no use then.
     */
    record TellCommit(String node, Commit commit) implements RunCommand {
    }

    /** The mean loss on validation data after {@code stepsDone} steps. */
    record ReportValidation(long stepsDone, double loss) implements RunCommand {
    }

    /** This happens to the checkpoint that the run wants, or has in progress: its machine is to hear it. */
    record TellCheckpoint(CheckpointEvent event) implements RunCommand {
    }

    /** The run continues without this checkpoint, for the reason in this sentence. */
    record ReportCheckpointFailed(long stepsDone, String why) implements RunCommand {
    }

    /**
     * Something failed, for this reason: every node is to begin an epoch, and to start these ranks again with the
     * weights after the steps of a commit; each rank answers {@link RunEvent.EpochReady}.
     *
     * @param hosts for each rank the node that it lives on from now on
     * @param since for each node whose ranks are others than at first, the epoch since which it has those
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
     * Every node is to copy what its ranks keep to other nodes, and at once what they kept at a commit.
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
     * @param pass the {@linkplain Pass#number number} of the pass in progress; -1 between two passes, when nothing is
     *     sent again
     * @param received what of it the others have, by the rank that sent it
     */
    record Resume(int epoch, long pass, Map<Integer, MessageKeys> received) implements RunCommand {
        public Resume {
            received = FixedOrder.copyOf(received);
        }

        /** The messages that the others have received from a rank. */
        public MessageKeys from(int rank) {
            return received.getOrDefault(rank, MessageKeys.NONE);
        }
    }

    /** The ranks that were restarted have done again what they had to. */
    record ReportCaughtUp() implements RunCommand {
    }

    /** The run is over. */
    record Finish(long stepsDone) implements RunCommand {
    }

    /** The run has to end, for the reason in this sentence. */
    record Fail(String reason) implements RunCommand {
    }
}
