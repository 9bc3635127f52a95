package dev.troupe.transport.link;

import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.Counters;
import dev.troupe.transport.DropReason;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportListener;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listeners of one node's ranks, with the results of posted receives. An error in one listener does not affect the
 * others.
 *
 * <p>Thread rule: the transport's thread, and any thread after its end.
 */
final class RankListeners implements PostedReceives.Events {
    private static final Logger LOG = LoggerFactory.getLogger(RankListeners.class);

    private final TransportListener[] listeners;
    private final Counters counters;

    RankListeners(int worldSize, Counters counters) {
        this.listeners = new TransportListener[worldSize];
        this.counters = counters;
    }

    void register(int rank, TransportListener listener) {
        listeners[rank] = listener;
    }

    /** Returns the listener of a rank, or null if the rank has none. */
    TransportListener of(int rank) {
        return listeners[rank];
    }

    /** Drops the listeners of all other ranks. */
    void keep(IntPredicate ranks) {
        for (int rank = 0; rank < listeners.length; rank++) {
            if (!ranks.test(rank)) {
                listeners[rank] = null;
            }
        }
    }

    /** Notifies a rank of a sent message. */
    void sent(SendQueue.Outgoing message) {
        try {
            listeners[message.id.edge().fromRank()].onSent(message.id, message.tensor, message.creditNanos);
        } catch (RuntimeException e) {
            threw(e);
        }
    }

    @Override
    public void landed(MessageId id, Tensor tensor, int rows) {
        counters.receivedMessage();
        try {
            listeners[id.edge().toRank()].onLanded(id, tensor, rows);
        } catch (RuntimeException e) {
            threw(e);
        }
    }

    @Override
    public void returned(Edge edge, Tensor tensor) {
        returned(listeners[edge.toRank()], edge, tensor);
    }

    @Override
    public void lost(Edge edge, DropReason reason, String sentence) {
        LOG.warn("{}", sentence);
        tell(edge.toRank(), listener -> listener.onFault(new TransportFault.MessageFault(edge, reason, sentence)));
    }

    @Override
    public void damaged(int node, int rank, String why) {
        String sentence = why + ", so a message that rank " + rank + " waits for may never be whole";
        tell(rank, listener -> listener.onFault(new TransportFault.DamageFault(node, sentence)));
    }

    /** Returns a tensor to a listener, which may belong to an earlier incarnation of its rank. */
    static void returned(TransportListener owner, Edge edge, Tensor tensor) {
        try {
            owner.onReturned(edge, tensor);
        } catch (RuntimeException e) {
            threw(e);
        }
    }

    void tell(int rank, Consumer<TransportListener> news) {
        tell(listeners[rank], news);
    }

    void tellAll(Consumer<TransportListener> news) {
        Arrays.stream(listeners).filter(Objects::nonNull).forEach(listener -> tell(listener, news));
    }

    /** Notifies a listener, which may belong to an earlier incarnation of its rank. */
    static void tell(TransportListener listener, Consumer<TransportListener> news) {
        try {
            news.accept(listener);
        } catch (RuntimeException e) {
            threw(e);
        }
    }

    private static void threw(RuntimeException error) {
        LOG.error("a transport listener threw", error);
    }
}
