package dev.troupe.transport;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import java.util.List;

/**
 * Carries tensors between ranks: one transport per node, for all its ranks.
 *
 * <p>The receiver {@linkplain #grant grants} buffers, and each grant is one credit that travels to the sender of that edge.
 * The sender may {@linkplain #send send} at any time; messages leave in the order in which they were sent on their edge,
 * each when the edge has a credit for it. Edges do not wait for each other. So every message that arrives has a buffer, and
 * no message blocks another edge.
 *
 * <p>Thread rule: any thread may call any method. Calls do not block, save {@link #pending} and {@link #close}, and calls of
 * one thread take effect in their order. A tensor that was granted or sent belongs to the transport until the listener
 * receives it again; no other code may read, write or close it meanwhile. Work of the tensor's engine from before the call
 * may still be in progress: the transport reads or fills the tensor behind a fence, for which it does not wait.
 */
public interface Transport extends AutoCloseable {
    /**
     * Registers the listener of a rank of this node, before any buffer is granted or tensor sent for it. A second call
     * replaces the listener, for a rank that was restarted.
     *
     * @throws IllegalArgumentException if the rank is not on this node in the epoch that was announced last
     */
    void register(int rank, TransportListener listener);

    /**
     * Gives the transport a buffer for one message of an edge to a rank of this node. The message must have the type and
     * shape of the buffer, or fewer rows, and is at its beginning then: see {@link TransportListener#onLanded}. Buffers of
     * an edge are filled in the order of their grants.
     *
     * @param epoch the epoch for which the buffer is granted. If it is before the present one, the buffer comes back at
     *     once, through {@link TransportListener#onReturned}
     * @throws IllegalArgumentException if the receiver is not registered here, the tensor has more than four dimensions, or
     *     the epoch is one that {@link #epoch} has not announced
     * @throws IllegalStateException if the transport is closed or its thread has ended
     */
    void grant(int epoch, Edge edge, Engine engine, Tensor buffer);

    /**
     * Sends a tensor of a rank of this node. Where its epoch is before the present one, the tensor comes back at once,
     * through {@link TransportListener#onReturned}.
     *
     * @throws IllegalArgumentException if the sender is not registered here, the receiver is of no node, the tensor has
     *     more than four dimensions, or the epoch is one that {@link #epoch} has not announced
     * @throws IllegalStateException if the transport is closed or its thread has ended
     */
    void send(MessageId id, Engine engine, Tensor tensor);

    /**
     * Begins an epoch; the first is 0. All buffers granted and all messages held for earlier epochs come back through
     * {@link TransportListener#onReturned}, earlier credits are void, and frames of earlier epochs that still arrive
     * are dropped and counted.
     *
     * @throws IllegalArgumentException if the epoch is before the present one
     */
    void epoch(int epoch);

    /**
     * Begins an epoch as {@link #epoch(int)} does, in which ranks are on other nodes; {@code epoch(int)} keeps the nodes.
     *
     * <p>Ranks that are on this node now may be registered as soon as this returns. The listener of a rank that has left
     * this node receives the epoch and all tensors held for it, and then nothing more. New streams are opened if
     * {@link NodeMap#streamsSince} has grown. Streams to nodes that are no peers any more, or to their former processes, are
     * closed: frames still in them are not read, and no fault of them is reported. If a stream cannot be opened the
     * transport ends, and every listener, also one that is registered afterwards, receives
     * {@link TransportFault.TransportEnded}.
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
     * Returns every tensor that the transport holds through {@link TransportListener#onReturned}, then releases memory,
     * threads and files. The call takes at most a few seconds. Closing twice has no effect.
     */
    @Override
    void close();
}
