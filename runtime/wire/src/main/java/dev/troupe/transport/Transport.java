package dev.troupe.transport;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import java.util.List;

/**
 * The carrier of tensors between ranks, one for all ranks of a node.
 *
 * <p>The receiver {@linkplain #grant grants} buffers, and each grant sends one credit to the sender of the edge. The sender
 * may {@linkplain #send send} at any time. The messages of an edge leave in order, each when the edge has a credit. So every
 * message that arrives has a buffer, and no edge blocks another.
 *
 * <p>Thread rule: any thread. Only {@link #pending} and {@link #close} block, and calls of one thread take effect in order.
 * A granted or sent tensor belongs to the transport until the listener receives it: meanwhile no other code may read, write
 * or close it. Earlier work of the tensor's engine may still be in progress: the transport uses the tensor after a fence,
 * without blocking on it.
 */
public interface Transport extends AutoCloseable {
    /**
     * Registers the listener of a rank of this node, before any buffer is granted or tensor sent for it. A second call
     * replaces the listener, for a rank that was restarted.
     *
     * @throws IllegalArgumentException if the rank is not on this node in the latest epoch
     */
    void register(int rank, TransportListener listener);

    /**
     * Grants a buffer for one message of an edge to a rank of this node. The message must have the type and shape of the
     * buffer, or fewer rows, which fill its beginning (see {@link TransportListener#onLanded}). Buffers of an edge are
     * filled in the order of their grants.
     *
     * @param epoch the epoch of the grant; for an earlier epoch than the current one, {@link TransportListener#onReturned}
     *     returns the buffer at once
     * @throws IllegalArgumentException if the receiver is not registered here, the tensor has more than four dimensions, or
     *     the epoch is one that {@link #epoch} has not announced
     * @throws IllegalStateException if the transport is closed or its thread has ended
     */
    void grant(int epoch, Edge edge, Engine engine, Tensor buffer);

    /**
     * Sends a tensor of a rank of this node. If its epoch is before the current one, {@link TransportListener#onReturned}
     * returns the tensor at once.
     *
     * @throws IllegalArgumentException if the sender is not registered here, no node has the receiver, the tensor has more
     *     than four dimensions, or the epoch is one that {@link #epoch} has not announced
     * @throws IllegalStateException if the transport is closed or its thread has ended
     */
    void send(MessageId id, Engine engine, Tensor tensor);

    /**
     * Begins an epoch; the first is 0. {@link TransportListener#onReturned} returns all buffers and messages of earlier
     * epochs. Earlier credits become void, and frames of earlier epochs are dropped and counted.
     *
     * @throws IllegalArgumentException if the epoch is before the present one
     */
    void epoch(int epoch);

    /**
     * Begins an epoch, as {@link #epoch(int)}, in which ranks are on other nodes.
     *
     * <p>The ranks that are now on this node may be registered after this returns. The listener of a rank that has left
     * receives the epoch and its tensors, and nothing after that. If {@link NodeMap#streamsSince} has grown, new streams are
     * opened. Streams to former peers or former processes are closed without reading their frames or reporting faults. If a
     * stream cannot be opened, the transport ends, and every current or later listener receives {@link
     * TransportFault.TransportEnded}.
     *
     * @throws IllegalArgumentException if the epoch is not after the present one, or the map is of another node or world or
     *     has other endpoints
     */
    void epoch(int epoch, NodeMap nodes);

    /**
     * Returns the transfers that wait, the longest wait first.
     *
     * @throws IllegalStateException if the transport thread does not answer within a second; the message names its
     *     place in the code
     */
    List<PendingTransfer> pending();

    /** Returns the counts of messages, bytes and drops so far. */
    TransportCounters counters();

    /**
     * Returns all tensors through {@link TransportListener#onReturned}, then releases memory, threads and files, within a
     * few seconds. Closing twice has no effect.
     */
    @Override
    void close();
}
