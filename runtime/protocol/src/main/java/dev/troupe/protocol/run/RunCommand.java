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
     * Order these ranks to walk their rows.
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

    /** Order these ranks to step their optimizers. */
    record Update(WeightUpdate update, List<Integer> ranks) implements RunCommand {
        public Update {
            ranks = List.copyOf(ranks);
        }
    }

    /**
     * Notify every node of a commit: the new weights of a step, or of all steps of a pass, are in place.
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
     * Send the last commit to a node that joins. A node can report only known commits to the next coordinator, and copies of
     * an unknown commit are useless.
     */
    record NotifyCommit(String node, Commit commit) implements RunCommand {
    }

    /** Report the mean loss on validation data after {@code stepsDone} steps. */
    record ReportValidation(long stepsDone, double loss) implements RunCommand {
    }

    /** Pass this event to the machine of checkpoints. */
    record NotifyCheckpoint(CheckpointEvent event) implements RunCommand {
    }

    /** Report that the run continues without this checkpoint, for this reason. */
    record ReportCheckpointFailed(long stepsDone, String why) implements RunCommand {
    }

    /**
     * Order every node to begin an epoch after a failure, and to restart these ranks with the weights of a commit. Each rank
     * answers {@link RunEvent.EpochReady}.
     *
     * @param reason the failure, in a sentence
     * @param hosts the node of each rank from now on
     * @param since for each node that has gained or lost ranks, the epoch of the change
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
     * Order every node to copy its ranks' snapshots to other nodes; the snapshots of a commit at once.
     *
     * @param buddies for each rank the node that keeps its copies; empty text for none
     */
    record KeepCopies(long stepsDone, List<String> buddies) implements RunCommand {
        public KeepCopies {
            buddies = List.copyOf(buddies);
        }
    }

    /**
     * Order each rank, in an epoch in which all are ready, to resend the messages of the pass that their receivers lack.
     *
     * @param pass the {@linkplain Pass#number number} of the pass in progress; -1 between two passes, when nothing is sent
     *     again
     * @param received the messages of the pass that were received, by sender
     */
    record Resume(int epoch, long pass, Map<Integer, MessageKeys> received) implements RunCommand {
        public Resume {
            received = FixedOrder.copyOf(received);
        }

        /** Returns the messages of a sender that were received. */
        public MessageKeys from(int rank) {
            return received.getOrDefault(rank, MessageKeys.NONE);
        }
    }

    /** Report that the restarted ranks have caught up. */
    record ReportCaughtUp() implements RunCommand {
    }

    record Finish(long stepsDone) implements RunCommand {
    }

    /** End the run with a failure. */
    record Fail(String reason) implements RunCommand {
    }
}
