package dev.troupe.protocol.rank;

import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.Pass;
import dev.troupe.schedule.Action;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The message of each send and receive in the rows of one rank. It is resolved once, when the plan is opened. Immutable.
 */
public final class RankMessages {
    private final int rank;
    private final Map<Action, MessageKey> keys = new HashMap<>();
    private final Map<MessageKey, Action> actions = new HashMap<>();
    private final Map<Edge, Integer> senders = new HashMap<>();

    RankMessages(RunPlan plan, int rank) {
        this.rank = rank;
        for (Pass.Kind kind : Pass.Kind.values()) {
            for (Action action : plan.row(kind, rank).actions()) {
                if (action.kind().isMessage() && plan.needsMessage(action)) {
                    MessageKey key = plan.keyOf(rank, action);
                    keys.put(action, key);
                    actions.put(key, action);
                    senders.put(key.edge(), action.kind().isSend() ? action.stage() : plan.peerStage(action));
                }
            }
        }
    }

    public int rank() {
        return rank;
    }

    /**
     * Returns the message of a send or receive.
     *
     * @throws IllegalArgumentException if the rank has no such message
     */
    public MessageKey keyOf(Action action) {
        MessageKey key = keys.get(action);
        if (key == null) {
            throw new IllegalArgumentException(action + " is no message of rank " + rank);
        }
        return key;
    }

    public List<MessageKey> keysOf(List<Action> receives) {
        return receives.stream().map(this::keyOf).toList();
    }

    /** Returns the send or receive of the rank for a message; empty if the rank's rows have none. */
    public Optional<Action> actionOf(MessageKey message) {
        return Optional.ofNullable(actions.get(message));
    }

    /** Returns the stage that sends on an edge of the rank. */
    public int senderOf(Edge edge) {
        return senders.get(edge);
    }
}
