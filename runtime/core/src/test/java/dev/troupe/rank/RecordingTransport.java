package dev.troupe.rank;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.FrameHook;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.PendingTransfer;
import dev.troupe.transport.Transport;
import dev.troupe.transport.TransportCounters;
import dev.troupe.transport.TransportListener;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** A transport that carries nothing, and remembers what it was given. Messages that a hook loses or damages are not sent. */
public final class RecordingTransport implements Transport {
    /** The messages, and a line for every other call. */
    public final BlockingQueue<MessageId> sent = new LinkedBlockingQueue<>();
    public final BlockingQueue<String> done = new LinkedBlockingQueue<>();
    /** Of the rank that was registered last. */
    public TransportListener listener;
    final Queue<Tensor> granted = new LinkedBlockingQueue<>();
    private final FrameHook hook;

    public RecordingTransport(FrameHook hook) {
        this.hook = hook;
    }

    @Override
    public void register(int rank, TransportListener ofRank) {
        listener = ofRank;
    }

    @Override
    public void grant(int epoch, Edge edge, Engine engine, Tensor buffer) {
        done.add("grant of epoch " + epoch);
        granted.add(buffer);
    }

    @Override
    public void send(MessageId id, Engine engine, Tensor tensor) {
        if (hook.loses(id)) {
            done.add("lost " + id.microbatch());
        } else if (hook.damages(id)) {
            done.add("damaged " + id.microbatch());
        } else {
            sent.add(id);
        }
    }

    @Override
    public void epoch(int epoch) {
        done.add("epoch " + epoch + " after " + sent.size() + " messages");
    }

    @Override
    public void epoch(int epoch, NodeMap nodes) {
        done.add("epoch " + epoch + " after " + sent.size() + " messages, ranks on " + nodes.nodeOfRank());
    }

    @Override
    public List<PendingTransfer> pending() {
        return List.of();
    }

    @Override
    public TransportCounters counters() {
        return TransportCounters.NONE;
    }

    @Override
    public void close() {
        done.add("close after " + sent.size() + " messages");
    }
}
