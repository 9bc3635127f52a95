package dev.troupe.transport.link;

import dev.troupe.transport.DropReason;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.frame.Frame;
import java.util.BitSet;
import java.util.Collection;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.IntUnaryOperator;

/**
 * The reports of lost messages to ranks: one for each message, and one in an epoch for each node that sends damaged frames.
 * No Aeron, no thread, no clock.
 */
final class Losses {
    private final IntUnaryOperator nodeOfRank;
    private final PostedReceives.Events events;
    /** The nodes that have sent a damaged frame in this epoch; their missing messages are not reported again. */
    private final BitSet damagedNodes = new BitSet();

    Losses(IntUnaryOperator nodeOfRank, PostedReceives.Events events) {
        this.nodeOfRank = nodeOfRank;
        this.events = events;
    }

    /**
     * Reports missing messages. An edge keeps the order of its messages, so a skipped number never arrives. The loss of the
     * last message is not noticed here, since no message follows it.
     */
    void noticeMissing(IncomingEdge edge, Frame frame, int epoch) {
        int missing = frame.number() - edge.nextNumber;
        if (missing < 0) {
            return; // a fragment of the message that has begun
        }
        edge.nextNumber = frame.number() + 1;
        if (missing > 0) {
            tell(edge, DropReason.OUT_OF_ORDER, missing + " of the messages from " + edge.edge + " in epoch " + epoch
                    + " did not come: number " + frame.number() + " is there, and before it number "
                    + (frame.number() - missing) + " was expected");
        }
    }

    /** Reports a damaged or lost frame to every rank that waits for a message from its node. */
    void damaged(int node, String why, Collection<IncomingEdge> edges) {
        SortedSet<Integer> waiting = new TreeSet<>();
        for (IncomingEdge edge : edges) {
            if (!edge.buffers.isEmpty() && nodeOfRank.applyAsInt(edge.edge.fromRank()) == node) {
                waiting.add(edge.edge.toRank());
            }
        }
        if (!waiting.isEmpty() && !damagedNodes.get(node)) {
            damagedNodes.set(node);
            waiting.forEach(rank -> events.damaged(node, rank, why));
        }
    }

    /** Reports a lost message once; returns the reason. */
    DropReason lose(IncomingEdge edge, MessageId id, DropReason reason, String why) {
        if (!edge.lossKnown || edge.lostPass != id.pass() || edge.lostMicrobatch != id.microbatch()) {
            edge.lossKnown = true;
            edge.lostPass = id.pass();
            edge.lostMicrobatch = id.microbatch();
            tell(edge, reason, "the message of " + id + " was dropped: " + why);
        }
        return reason;
    }

    private void tell(IncomingEdge edge, DropReason reason, String sentence) {
        boolean isNews = reason != DropReason.OUT_OF_ORDER
                || !damagedNodes.get(nodeOfRank.applyAsInt(edge.edge.fromRank()));
        if (isNews) {
            events.lost(edge.edge, reason, sentence);
        }
    }

    void clear() {
        damagedNodes.clear();
    }
}
