package dev.troupe.transport.link;

import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.TransportListener;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listeners of one node's ranks. An error in one listener does not affect the others.
 *
 * <p>Thread rule: the transport's thread, and any thread after its end.
 */
final class RankListeners {
    private static final Logger LOG = LoggerFactory.getLogger(RankListeners.class);

    private final TransportListener[] listeners;

    RankListeners(int worldSize) {
        this.listeners = new TransportListener[worldSize];
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

    /** Notifies a rank of a complete message. */
    void landed(MessageId id, Tensor tensor, int rows) {
        try {
            listeners[id.edge().toRank()].onLanded(id, tensor, rows);
        } catch (RuntimeException e) {
            threw(e);
        }
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
