package dev.troupe.protocol.run;

import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.rank.Outbox;
import java.util.ArrayList;
import java.util.List;

/** The transport of a node for the real {@link Outbox} of one of its ranks; a buffer has no content. */
final class SimulatedTransport implements Outbox.Transport<Long> {
    static final long BUFFER = 0;

    private final SimulatedNode node;
    // Null unless messages are cut off.
    private List<Carrier.Message> waiting;

    SimulatedTransport(SimulatedNode node) {
        this.node = node;
    }

    @Override
    public void grant(int epoch, Edge edge, Long buffer) {
        node.transport().grant(epoch, edge);
    }

    @Override
    public void send(int epoch, long pass, MessageKey key, Long content) {
        Carrier.Message message = new Carrier.Message(key.edge(), key.microbatch(), pass, epoch, content);
        if (waiting == null) {
            node.transport().send(message);
        } else {
            waiting.add(message);
        }
    }

    /** Sends the messages of {@code sender}, except for the last ones. */
    void cutOff(int count, Runnable sender) {
        waiting = new ArrayList<>();
        sender.run();
        List<Carrier.Message> all = waiting;
        waiting = null;
        all.subList(0, Math.max(0, all.size() - count)).forEach(node.transport()::send);
    }

    /** Uses the memory of the tensor again: the transport must not have it. */
    @Override
    public void release(Edge edge, Long content) {
        node.transport().requireSent(edge, content);
    }

    /** Each message counts as one. */
    @Override
    public long byteCount(Long content) {
        return 1;
    }
}
