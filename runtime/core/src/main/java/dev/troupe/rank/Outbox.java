package dev.troupe.rank;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.MessageKeys;
import dev.troupe.protocol.rank.SendLog;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.Transport;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * All that one incarnation of a rank hands to the transport: buffers for what comes and tensors that go, each in the present
 * epoch. Where the run recovers from failures it keeps what it sent until the next pass.
 *
 * <p>Thread rule: any thread.
 */
public final class Outbox {
    private final int rank;
    private final Transport transport;
    private final Engine engine;
    private final boolean keeps;
    private final BiConsumer<Edge, Tensor> release;
    // All below is guarded by this.
    private final SendLog<Tensor> log;
    private int epoch;
    private long pass = -1;
    private boolean isRetired;
    private long bytesSent;

    /**
     * @param keeps
     *            whether what is sent is kept
     * @param epoch
     *            the epoch in which the rank is started
     * @param release
     *            takes back a tensor that was sent on an edge and is not needed any more
     */
    Outbox(int rank, Transport transport, Engine engine, boolean keeps, int epoch, BiConsumer<Edge, Tensor> release) {
        this.rank = rank;
        this.transport = transport;
        this.engine = engine;
        this.keeps = keeps;
        this.release = release;
        this.epoch = epoch;
        this.log = new SendLog<>(epoch == 0);
    }

    /** Grants a buffer for one message of an edge. */
    synchronized void grant(Edge edge, Tensor buffer) {
        if (!isRetired) {
            transport.grant(epoch, edge, engine, buffer);
        }
    }

    /** Sends a tensor of the pass under way. */
    synchronized void send(MessageKey key, Tensor tensor) {
        if (isRetired) {
            return;
        }
        bytesSent += tensor.byteCount();
        if (!keeps || log.add(key, tensor)) {
            handOver(key, tensor);
        }
    }

    private void handOver(MessageKey key, Tensor tensor) {
        transport.send(new MessageId(epoch, pass, key.edge(), key.microbatch()), engine, tensor);
    }

    /** The transport has read a tensor to its end. */
    void sent(Edge edge, Tensor tensor) {
        if (!keeps) {
            release.accept(edge, tensor);
        }
    }

    /** The transport gives a buffer or a tensor back: a buffer is granted once more, and a tensor stands in the log. */
    synchronized void returned(Edge edge, Tensor tensor) {
        if (edge.toRank() == rank) {
            grant(edge, tensor);
        }
    }

    /** A pass begins: everything of the one before is received and committed. */
    public synchronized void begin(long number) {
        pass = number;
        log.clear().forEach((key, tensor) -> release.accept(key.edge(), tensor));
    }

    /** An epoch begins: nothing goes until {@link #resume}. Returns false where it is that in which the rank was started. */
    synchronized boolean enter(int begun) {
        if (begun <= epoch) {
            return false;
        }
        epoch = begun;
        log.close();
        return true;
    }

    /**
     * All ranks stand in an epoch.
     *
     * @param ofPass
     *            the pass that goes on; what stands here of another is behind everybody
     * @param received
     *            what the receivers have of it; all else goes again
     */
    public synchronized void resume(int resumed, long ofPass, MessageKeys received) {
        if (resumed == epoch && !isRetired) { // or another has begun since
            Map<MessageKey, Tensor> missing = log.open(received);
            if (ofPass == pass) {
                missing.forEach(this::handOver);
            }
        }
    }

    /** Hands nothing over any more: this incarnation is at its end. */
    public synchronized void retire() {
        isRetired = true;
    }

    public synchronized boolean isRetired() {
        return isRetired;
    }

    /** Bytes of tensors sent, each counted once. */
    synchronized long bytesSent() {
        return bytesSent;
    }
}
