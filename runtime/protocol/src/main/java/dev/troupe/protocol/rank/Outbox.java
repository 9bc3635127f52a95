package dev.troupe.protocol.rank;

import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.MessageKeys;
import java.util.Map;

/**
 * The hand-over of receive buffers and sent tensors from one incarnation of a rank to the transport, in the current epoch.
 * If the run recovers from failures, the outbox keeps a {@link SendLog} until the next pass begins.
 *
 * <p>Thread rule: any thread.
 *
 * @param <T> a tensor
 */
public final class Outbox<T> {
    /** The transport of the rank's node. */
    public interface Transport<T> {
        /** Grants a buffer for one message of an edge. */
        void grant(int epoch, Edge edge, T buffer);

        void send(int epoch, long pass, MessageKey message, T tensor);

        /** Takes back a sent tensor that is not needed any more. */
        void release(Edge edge, T tensor);

        long byteCount(T tensor);
    }

    private final int rank;
    private final Transport<T> transport;
    private final boolean keeps;
    // Guards all below.
    private final SendLog<T> log;
    private int epoch;
    private long pass = -1;
    private boolean isRetired;
    private boolean isReleased;
    private long bytesSent;

    /**
     * @param keeps whether sent tensors are kept
     * @param epoch the epoch in which the rank is started
     */
    public Outbox(int rank, Transport<T> transport, boolean keeps, int epoch) {
        this.rank = rank;
        this.transport = transport;
        this.keeps = keeps;
        this.epoch = epoch;
        this.log = new SendLog<>(epoch == 0);
    }

    public synchronized void grant(Edge edge, T buffer) {
        if (!isRetired) {
            transport.grant(epoch, edge, buffer);
        }
    }

    /** Sends a tensor of the pass in progress. */
    public synchronized void send(MessageKey key, T tensor) {
        if (isRetired) {
            return;
        }
        bytesSent += transport.byteCount(tensor);
        if (!keeps || log.add(key, tensor)) {
            handOver(key, tensor);
        }
    }

    private void handOver(MessageKey key, T tensor) {
        transport.send(epoch, pass, key, tensor);
    }

    /** Handles the news that the transport has finished reading a tensor. */
    public void sent(Edge edge, T tensor) {
        if (!keeps) {
            transport.release(edge, tensor);
        }
    }

    /** Handles a buffer or tensor that the transport gives back: a buffer is granted again, a tensor remains in the log. */
    public synchronized void returned(Edge edge, T tensor) {
        if (edge.toRank() == rank) {
            grant(edge, tensor);
        }
    }

    /** Begins a pass, after all messages of the earlier one are received and committed. */
    public synchronized void begin(long number) {
        pass = number;
        log.clear().forEach((key, tensor) -> transport.release(key.edge(), tensor));
    }

    /**
     * Begins an epoch, in which nothing is sent before {@link #resume}. Returns false if the epoch is not newer than the
     * rank's.
     */
    public synchronized boolean enter(int begun) {
        if (begun <= epoch) {
            return false;
        }
        epoch = begun;
        isReleased = isRetired;
        log.close();
        return true;
    }

    /**
     * Continues after all ranks have entered an epoch.
     *
     * @param ofPass the pass to resume; messages of earlier passes have all been received
     * @param received the messages of that pass that have been received; all others are sent again
     */
    public synchronized void resume(int resumed, long ofPass, MessageKeys received) {
        if (resumed == epoch && !isRetired) { // or another has begun since
            Map<MessageKey, T> missing = log.open(received);
            if (ofPass == pass) {
                missing.forEach(this::handOver);
            }
        }
    }

    /** Ends all hand-overs, since this incarnation is given up. */
    public synchronized void retire() {
        isRetired = true;
    }

    public synchronized boolean isRetired() {
        return isRetired;
    }

    /** Returns whether an epoch has begun since {@link #retire}, so that the transport holds none of its tensors. */
    public synchronized boolean isReleased() {
        return isReleased;
    }

    /** Returns the bytes of sent tensors, each tensor counted once. */
    public synchronized long bytesSent() {
        return bytesSent;
    }
}
