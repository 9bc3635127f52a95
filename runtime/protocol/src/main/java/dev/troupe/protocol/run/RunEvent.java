package dev.troupe.protocol.run;

import dev.troupe.protocol.FixedOrder;
import dev.troupe.protocol.Incarnation;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.MessageKeys;
import dev.troupe.protocol.MicrobatchLoss;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.Strike;
import dev.troupe.protocol.Traffic;
import dev.troupe.protocol.checkpoint.CheckpointAttempt;
import dev.troupe.protocol.checkpoint.CheckpointPart;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** An event of a run. */
public sealed interface RunEvent {
    /** An event of a rank; it is dropped if the incarnation was given up since. */
    sealed interface OfRank extends RunEvent {
        Incarnation from();
    }

    /**
     * A rank has its weights and is ready in an epoch.
     *
     * @param pass the {@linkplain Pass#number number} of the pass that it is in, or was in last; -1 for none
     * @param received the messages of that pass that it has used or is about to
     */
    record EpochReady(Incarnation from, int epoch, long pass, MessageKeys received) implements OfRank {
        /** Creates the event from single messages. */
        public EpochReady(Incarnation from, int epoch, long pass, List<MessageKey> received) {
            this(from, epoch, pass, MessageKeys.of(received));
        }
    }

    /** A rank has done a step of its row; losses come from the rank of the last stage, squared sums in a training pass. */
    record PassDone(Incarnation from, Pass pass, long step, List<MicrobatchLoss> losses,
            List<LayerSquaredSum> squaredSums) implements OfRank {
        /** Creates the event of a pass of one step. */
        public PassDone(Incarnation from, Pass pass, List<MicrobatchLoss> losses, List<LayerSquaredSum> squaredSums) {
            this(from, pass, pass.step(), losses, squaredSums);
        }

        public PassDone {
            losses = List.copyOf(losses);
            squaredSums = List.copyOf(squaredSums);
        }
    }

    /** The new weights of a rank are in place at the end of a pass with this first step; with the traffic of the pass. */
    record Updated(Incarnation from, long step, Traffic traffic) implements OfRank {
    }

    /** A rank's report of its part of a checkpoint. */
    sealed interface OfCheckpoint extends OfRank {
    }

    /** A rank has written its part of a checkpoint. */
    record CheckpointPartWritten(Incarnation from, CheckpointPart part) implements OfCheckpoint {
    }

    /**
     * A rank has failed, for the reason in this sentence.
     *
     * @param strike the error, if it could strike again in another attempt
     */
    record RankFailed(Incarnation from, String reason, Optional<Strike> strike) implements OfRank {
        /** Creates the failure of a rank without an error of its own: it hangs, or was made to fail. */
        public RankFailed(Incarnation from, String reason) {
            this(from, reason, Optional.empty());
        }
    }

    /**
     * A node has joined, with ranks or as a standby.
     *
     * @param versions by rank, the steps after which it has all states of the rank, ascending; empty for a node that reports
     *     none
     */
    record NodeJoined(String node, Map<Integer, List<Long>> versions) implements RunEvent {
        public NodeJoined {
            versions = FixedOrder.copyOf(versions);
        }
    }

    /**
     * A node has joined late: it has reported an epoch of an earlier coordinator when the run was in progress here.
     *
     * @param epoch the last epoch that it has entered
     */
    record NodeLate(String node, int epoch) implements RunEvent {
    }

    /** A node is gone with its ranks, for the reason in this sentence. */
    record NodeLost(String node, String reason) implements RunEvent {
    }

    /** A node has copies of all states of a rank, which lives elsewhere, after {@code stepsDone} steps. */
    record Copied(int rank, String buddy, long stepsDone) implements RunEvent {
    }

    /** The copies that the next update waits for are late. */
    record CopiesLate() implements RunEvent {
    }

    /**
     * A message that ranks wait for will not come by itself, for the reason in this sentence.
     *
     * @param epoch the epoch in which it was lost: in a later one it is sent again anyway
     */
    record MessageLost(int epoch, String reason) implements RunEvent {
    }

    /** A rank cannot write its part of a checkpoint, for the reason in this sentence. */
    record CheckpointPartFailed(Incarnation from, String why) implements OfCheckpoint {
    }

    /** Updates can overwrite nothing that this checkpoint, which is written during training, needs. */
    record CheckpointPinned(CheckpointAttempt attempt) implements RunEvent {
    }

    /**
     * Nothing of a checkpoint is in progress any more.
     *
     * @param isWritten whether it is complete on disk
     * @param failure the reason why it is not, in one sentence, if the run waits for it
     */
    record CheckpointSettled(CheckpointAttempt attempt, boolean isWritten,
            Optional<String> failure) implements RunEvent {
    }

    /** The last checkpoint is so old that the next commit is to have one. */
    record CheckpointTimeIsUp() implements RunEvent {
    }

    /** The user wants the run to end after this step. */
    record StopRequested() implements RunEvent {
    }
}
