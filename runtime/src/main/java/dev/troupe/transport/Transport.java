package dev.troupe.transport;

import java.util.List;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;

/**
 * Carries tensors between ranks: one transport per node, for all the ranks that live there.
 *
 * <p>The receiver {@linkplain #grant grants} buffers, and each grant is one credit that travels to the sender of that
 * edge. The sender {@linkplain #send sends} whenever it likes; a message leaves when its edge has a credit for it, in
 * the order in which it was sent on that edge. Edges do not wait for each other. So whatever arrives has a buffer, and
 * nothing in front of it can block.
 *
 * <p>Thread rule: any thread may call any method. Calls do not block, save {@link #pending} and {@link #close}, and
 * those of one thread take effect in their order. A tensor handed over is the transport's until the listener hears of
 * it again; nobody else may read, write or close it meanwhile.
 */
public interface Transport extends AutoCloseable {
    /**
     * Names who hears of a rank of this node. Must come before anything is granted or sent for it. A second call
     * replaces the listener, for a rank that was restarted.
     *
     * @throws IllegalArgumentException
     *             if the rank does not live on this node in the epoch that was announced last
     */
    void register(int rank, TransportListener listener);

    /**
     * Gives the transport a buffer for one message of an edge whose receiver lives here. The message must have the
     * type and shape of the buffer. Buffers of an edge are filled in the order of their grants.
     *
     * @param epoch
     *            the epoch for which it is granted. Of an epoch before the present one: the buffer comes back at once,
     *            through {@link TransportListener#onReturned}
     * @throws IllegalArgumentException
     *             if the receiver is not registered here, the tensor has more than four dimensions, or the epoch is
     *             one that {@link #epoch} has not announced
     * @throws IllegalStateException
     *             if the transport is closed or its thread has ended
     */
    void grant(int epoch, Edge edge, Engine engine, Tensor buffer);

    /**
     * Sends a tensor of a rank that lives here. Of an epoch before the present one: the tensor comes back at once,
     * through {@link TransportListener#onReturned}.
     *
     * @throws IllegalArgumentException
     *             if the sender is not registered here, the receiver is of no node, the tensor has more than four
     *             dimensions, or the epoch is one that {@link #epoch} has not announced
     * @throws IllegalStateException
     *             if the transport is closed or its thread has ended
     */
    void send(MessageId id, Engine engine, Tensor tensor);

    /** Sends a tensor as {@link #send(MessageId, Engine, Tensor)} does, and lets something happen to it on its way. */
    void send(MessageId id, Engine engine, Tensor tensor, InjectedDamage damage);

    /**
     * Begins an epoch; the first is 0. All buffers granted and all messages held for earlier epochs come back through
     * {@link TransportListener#onReturned}, earlier credits are void, and frames of earlier epochs that still arrive
     * are dropped and counted.
     *
     * @throws IllegalArgumentException
     *             if the epoch is before the present one
     */
    void epoch(int epoch);

    /**
     * Begins an epoch as {@link #epoch(int)} does, in which ranks live at new places; {@code epoch(int)} keeps the places.
     *
     * <p>Ranks that live here now may be registered as soon as this returns. The listener of one that lives elsewhere now
     * hears of the epoch, gets back all that was held for it, and then hears no more. New streams are opened where
     * {@link NodeMap#streamsSince} has grown, and those to nodes that are no peers any more, or to their former
     * processes, are closed: what is still in them is not read, and no fault is told of them. Where a stream cannot be
     * opened the transport ends, and every listener, also one that is registered afterwards, hears
     * {@link TransportFault.TransportEnded}.
     *
     * @throws IllegalArgumentException
     *             if the epoch is not after the present one, or the map is of another node or world or has other endpoints
     */
    void epoch(int epoch, NodeMap nodes);

    /**
     * What waits for what, and since when, the longest first.
     *
     * @throws IllegalStateException
     *             if the transport thread does not answer within a second; the message says where it stands
     */
    List<PendingTransfer> pending();

    /** What was done and dropped so far. */
    TransportCounters counters();

    /**
     * Gives back every tensor it holds through {@link TransportListener#onReturned}, then releases memory, threads and
     * files. Bounded to a few seconds. Closing twice has no effect.
     */
    @Override
    void close();
}
