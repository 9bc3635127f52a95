package dev.troupe.rank;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.rank.Outbox;
import dev.troupe.protocol.rank.RankMessages;
import dev.troupe.stage.Stage;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.Transport;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The boundary tensors of one rank's stages: they leave through the node's transport, and return to the stage that made
 * them. Thread rule: any thread; {@link #adopt} on the rank's.
 */
final class Boundaries implements Outbox.Transport<Tensor> {
    private final Transport transport;
    private final Engine engine;
    private final RankMessages messages;
    /** The stages of the rank, by index. */
    private final Map<Integer, Stage> stages = new ConcurrentHashMap<>();

    Boundaries(Transport transport, Engine engine, RankMessages messages) {
        this.transport = transport;
        this.engine = engine;
        this.messages = messages;
    }

    /** Adds a stage, before it makes a tensor. */
    void add(Stage stage) {
        stages.put(stage.index(), stage);
    }

    void adopt(Stage by, int from, Tensor boundary) {
        by.boundary().adopt(boundary, stages.get(from).boundary());
    }

    void release(int stage, Tensor boundary) {
        stages.get(stage).boundary().release(boundary);
    }

    @Override
    public void grant(int epoch, Edge edge, Tensor buffer) {
        transport.grant(epoch, edge, engine, buffer);
    }

    @Override
    public void send(int epoch, long pass, MessageKey message, Tensor tensor) {
        transport.send(new MessageId(epoch, pass, message), engine, tensor);
    }

    @Override
    public void release(Edge edge, Tensor tensor) {
        release(messages.senderOf(edge), tensor);
    }

    @Override
    public long byteCount(Tensor tensor) {
        return tensor.byteCount();
    }
}
