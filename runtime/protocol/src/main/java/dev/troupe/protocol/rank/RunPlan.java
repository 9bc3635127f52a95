package dev.troupe.protocol.rank;

import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.MessageKind;
import dev.troupe.protocol.Pass;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.certificate.Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The certified plans of a run, spread over its ranks: the row of each rank, and the message of each send or receive. All
 * ranks of a row walk it together and have consecutive numbers. The rank at offset k of a row exchanges messages with the
 * ranks at offset k of other rows. A place in the pipeline has one row, or one for each replica of its stage. Immutable.
 */
public interface RunPlan {
    /** The message number of a kind that is sent once in a step. */
    int ONLY_MESSAGE = 0;

    /** The certified plan of a step. */
    Certificate training();

    /** The certified plan of a forward pass over validation data. */
    Certificate validation();

    /** Returns the number of ranks of each row; they share its stages or hold the same weights. */
    int ranksPerPlace();

    default int rankCount() {
        return training().plan().rankCount() * ranksPerPlace();
    }

    /** Returns the ranks that hold the same stages, over all pipelines, for each set of stages. */
    default List<List<Integer>> places() {
        Map<List<Integer>, List<Integer>> places = new LinkedHashMap<>();
        for (int rank = 0; rank < rankCount(); rank++) {
            places.computeIfAbsent(stagesOf(rank), _ -> new ArrayList<>()).add(rank);
        }
        return places.values().stream().map(List::copyOf).toList();
    }

    default int placeOf(int rank) {
        return rank / ranksPerPlace(); // rounded down
    }

    /** Returns the stages that a rank holds, ascending. */
    default List<Integer> stagesOf(int rank) {
        return training().plan().stagesOf(placeOf(rank));
    }

    default Certificate certificate(Pass.Kind kind) {
        return switch (kind) {
            case TRAINING -> training();
            case VALIDATION -> validation();
        };
    }

    default RankRow row(Pass.Kind kind, int rank) {
        Certificate certificate = certificate(kind);
        List<Action> row = certificate.plan().rows().get(placeOf(rank));
        return new RankRow(row, certificate.peakActivations().get(placeOf(rank)), row.stream()
                .filter(action -> action.kind().isReceive() && !needsMessage(action)).collect(Collectors.toSet()));
    }

    /**
     * Returns the action of a rank's row that completes the gradients of a stage for a step of the row. With replicas, it
     * completes the gradients of the step's round.
     */
    default Action lastBackward(int rank, int stage, int step) {
        return row(Pass.Kind.TRAINING, rank).actions().reversed().stream()
                .filter(action -> action.stage() == stage && action.kind().freesActivation()
                        && training().plan().updatesBefore(stage, training().plan().stepOf(action)) == training().plan()
                                .updatesBefore(stage, step))
                .findFirst().orElseThrow();
    }

    /** Returns the number of steps of a training pass: 1, or the steps between two flushes of the pipeline. */
    default int stepsPerPass() {
        return training().plan().stepCount();
    }

    /** Returns the most steps in progress at a time on a rank, from the first forward to the last update of each. */
    default int stepsAtOnce(int rank) {
        int updated = 0;
        int most = 1;
        for (Action action : row(Pass.Kind.TRAINING, rank).actions()) {
            if (action.kind() == Kind.FORWARD) {
                most = Math.max(most, rows().stepInRow(Pass.Kind.TRAINING, action) + 1 - updated);
            } else if (action.kind() == Kind.UPDATE) {
                updated = rows().stepInRow(Pass.Kind.TRAINING, action) + 1;
            }
        }
        return most;
    }

    /** Returns for each action of a stage that reads weights the age of those weights, in updates. */
    default Map<Action, Integer> updatesBehind(int rank, int stage) {
        Map<Action, Integer> behind = new HashMap<>();
        int newest = training().plan().firstVersion();
        for (Action action : row(Pass.Kind.TRAINING, rank).actions()) {
            if (action.stage() == stage && action.namesVersion()) {
                behind.put(action, newest - action.version());
            }
            newest += action.stage() == stage && action.kind() == Kind.UPDATE ? 1 : 0;
        }
        return behind;
    }

    default Rows rows() {
        return new Rows(training());
    }

    /** Returns the number of messages that may be unconsumed on an edge. */
    default int creditsPerEdge() {
        return training().creditsPerEdge();
    }

    /** Returns whether a send or receive needs a message; stages of one rank hand over without one. */
    default boolean needsMessage(Action message) {
        return training().plan().needsMessage(message);
    }

    /** Returns the stage at the other end of a message; {@link dev.troupe.schedule.StageGraph#NONE} if there is none. */
    default int peerStage(Action message) {
        return training().plan().peerStage(message);
    }

    default Action peer(Action message) {
        return training().plan().peer(message);
    }

    default MessageKey keyOf(int rank, Action message) {
        return new MessageKey(edgeOf(rank, message),
                message.microbatch() == Action.WHOLE_STEP ? ONLY_MESSAGE : message.microbatch());
    }

    default RankMessages messages(int rank) {
        return new RankMessages(this, rank);
    }

    default Edge edgeOf(int rank, Action message) {
        MessageKind kind = switch (message.kind()) {
            case SEND_F, RECV_F -> MessageKind.ACTIVATION;
            case SEND_B, RECV_B -> MessageKind.GRADIENT;
            case SEND_SHARED, RECV_SHARED -> MessageKind.SHARED_GRADIENT;
            default -> throw new IllegalArgumentException(message + " is no message");
        };
        int peer = peerStage(message);
        int to = message.kind().isSend() ? peer : message.stage();
        int from = message.kind().isSend() ? message.stage() : peer;
        return new Edge(holder(rank, from, message), holder(rank, to, message), to, kind);
    }

    /**
     * Returns the rank that holds a stage in the pipeline of another rank; with replicas, the one that has the message's
     * microbatch.
     */
    default int holder(int rank, int stage, Action message) {
        return training().plan().rankOf(stage, message) * ranksPerPlace() + rank % ranksPerPlace();
    }

    /** Returns one receive for each channel of activations or gradients into a stage of a rank. */
    default Collection<Action> receivesOf(int rank, int stage) {
        Map<Edge, Action> receives = new LinkedHashMap<>();
        for (Pass.Kind kind : Pass.Kind.values()) {
            row(kind, rank).actions().stream()
                    .filter(action -> action.stage() == stage && action.kind().isTransfer()
                            && action.kind().isReceive() && needsMessage(action))
                    .forEach(receive -> receives.putIfAbsent(edgeOf(rank, receive), receive));
        }
        return receives.values();
    }

    default int senderOf(Edge edge) {
        return peerStage(new Action(edge.stage(), switch (edge.kind()) {
            case ACTIVATION -> Kind.RECV_F;
            case GRADIENT -> Kind.RECV_B;
            case SHARED_GRADIENT -> Kind.RECV_SHARED;
        }, ONLY_MESSAGE));
    }

    /** Returns every edge between two ranks, for all kinds of messages and passes. */
    default Set<Edge> edges() {
        Set<Edge> edges = new LinkedHashSet<>();
        for (int rank = 0; rank < rankCount(); rank++) {
            for (Pass.Kind kind : Pass.Kind.values()) {
                for (Action action : row(kind, rank).actions()) {
                    if (action.kind().isMessage() && needsMessage(action)) {
                        edges.add(edgeOf(rank, action));
                    }
                }
            }
        }
        return edges;
    }
}
