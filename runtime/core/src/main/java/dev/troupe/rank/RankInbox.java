package dev.troupe.rank;

import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.Pass;
import dev.troupe.protocol.rank.Outbox;
import dev.troupe.protocol.rank.RankEvent;
import dev.troupe.protocol.rank.RankMessages;
import dev.troupe.rank.trace.RankTrace;
import dev.troupe.schedule.Action;
import dev.troupe.transport.DropReason;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportListener;
import java.util.Optional;

/**
 * The inbox of one incarnation of a rank: it handles everything that the node's transport reports to the rank. It files
 * landed tensors, returns read ones to the outbox, traces both, and forwards events to the rank's actor. Thread rule: the
 * transport's thread, one call at a time; no call blocks.
 */
record RankInbox(RankMessages messages, RankTensors tensors, RankTrace trace, Outbox<Tensor> outbox,
        RankListener listener)
        implements
            TransportListener {
    /** Files a message. The buffer of a duplicate, or of a message that is not in the plan, is granted again. */
    @Override
    public void onLanded(MessageId id, Tensor tensor, int rows) {
        Optional<Action> known = messages.actionOf(id.message());
        if (known.isEmpty()) {
            outbox.grant(id.edge(), tensor);
            listener.transportFailed(new TransportFault.MessageFault(id.edge(), DropReason.BAD_FIELD,
                    "the message of " + id + " was dropped: the plan has no such message"));
            return;
        }
        Action receive = known.get();
        if (tensors.land(receive, id.pass(), tensor, rows)) {
            if (isTraced(id)) {
                trace.landed(receive);
            }
            listener.moved(new RankEvent.Landed(receive, id.pass()));
        } else {
            outbox.grant(id.edge(), tensor);
        }
    }

    @Override
    public void onSent(MessageId id, Tensor tensor, long creditNanos) {
        if (isTraced(id)) {
            trace.sent(messages.actionOf(id.message()).orElseThrow(), creditNanos);
        }
        outbox.sent(id.edge(), tensor);
    }

    private static boolean isTraced(MessageId id) {
        return Pass.kindOf(id.pass()) == Pass.Kind.TRAINING;
    }

    @Override
    public void onReturned(Edge edge, Tensor tensor) {
        outbox.returned(edge, tensor);
    }

    @Override
    public void onEpoch(int epoch) {
        if (outbox.enter(epoch)) {
            listener.epochBegun(epoch);
        }
    }

    /** Retires the outbox before the transport ends: otherwise the outbox would get back all tensors that it hands over. */
    @Override
    public void onFault(TransportFault fault) {
        if (fault instanceof TransportFault.TransportEnded) {
            outbox.retire();
        }
        listener.transportFailed(fault);
    }
}
