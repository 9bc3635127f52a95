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
    /** An event of a rank; events of an incarnation that was given up are dropped. */
    sealed interface OfRank extends RunEvent {
        Incarnation from();
    }

    /**
     * A rank has its weights and is ready in an epoch.
     *
     * @param pass the {@linkplain Pass#number number} of the rank's current or last pass; -1 for none
     * @param received the messages of that pass that the rank needs no more: it has used them or is about to
     */
    record EpochReady(Incarnation from, int epoch, long pass, MessageKeys received) implements OfRank {
        /** Creates the event from single messages. */
        public EpochReady(Incarnation from, int epoch, long pass, List<MessageKey> received) {
            this(from, epoch, pass, MessageKeys.of(received));
        }
    }

    /**
     * A rank has done a step of its row. Losses come from the rank of the last stage, squared sums in a training pass only.
     */
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

    /**
     * A rank's new weights are in place at the end of a pass; {@code step} is its first step, and {@code traffic} the bytes
     * of the pass.
     */
    record Updated(Incarnation from, long step, Traffic traffic) implements OfRank {
    }

    /** A rank's report of its part of a checkpoint. */
    sealed interface OfCheckpoint extends OfRank {
    }

    /** A rank has written its part of a checkpoint. */
    record CheckpointPartWritten(Incarnation from, CheckpointPart part) implements OfCheckpoint {
    }

    /**
     * A rank has failed.
     *
     * @param reason the failure, in a sentence
     * @param strike the error, if another attempt could repeat it
     */
    record RankFailed(Incarnation from, String reason, Optional<Strike> strike) implements OfRank {
        /** Creates the failure of a rank that reported no error itself: it hangs, or a fault was injected. */
        public RankFailed(Incarnation from, String reason) {
            this(from, reason, Optional.empty());
        }
    }

    /**
     * A node has joined, with ranks or as a standby.
     *
     * @param versions for each rank, the commits (as steps done, ascending) of which the node has the complete state; empty
     *     without a report
     */
    record NodeJoined(String node, Map<Integer, List<Long>> versions) implements RunEvent {
        public NodeJoined {
            versions = FixedOrder.copyOf(versions);
        }
    }

    /**
     * A node with a report from an earlier coordinator's epoch has joined after the run continued here.
     *
     * @param epoch the last epoch that the node has entered
     */
    record NodeLate(String node, int epoch) implements RunEvent {
    }

    /** A node is lost with its ranks. */
    record NodeLost(String node, String reason) implements RunEvent {
    }

    /** A node has a complete copy of another node's rank at the commit after {@code stepsDone} steps. */
    record Copied(int rank, String buddy, long stepsDone) implements RunEvent {
    }

    /** The copies for which the next update waits are late. */
    record CopiesLate() implements RunEvent {
    }

    /**
     * A message is lost that ranks wait for.
     *
     * @param epoch the epoch in which it was lost; in a later epoch it is sent again anyway
     */
    record MessageLost(int epoch, String reason) implements RunEvent {
    }

    /** A rank cannot write its part of a checkpoint. */
    record CheckpointPartFailed(Incarnation from, String why) implements OfCheckpoint {
    }

    /** No update can overwrite a state that this checkpoint, written during training, still needs. */
    record CheckpointPinned(CheckpointAttempt attempt) implements RunEvent {
    }

    /**
     * A checkpoint is complete, failed or abandoned: none of its work is in progress.
     *
     * @param isWritten whether it is complete on disk
     * @param failure the reason of its failure, if the run waits for it
     */
    record CheckpointSettled(CheckpointAttempt attempt, boolean isWritten,
            Optional<String> failure) implements RunEvent {
    }

    /** The last checkpoint has reached its maximum age, so the next commit writes one. */
    record CheckpointTimeIsUp() implements RunEvent {
    }

    /** The user wants the run to end after this step. */
    record StopRequested() implements RunEvent {
    }
}
