package dev.troupe.rank;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.rank.Outbox;
import dev.troupe.protocol.rank.RankMessages;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.Transport;

/** The transport of a node for the tensors of one rank's engine. Thread rule: any thread. */
record OutboxTransport(Transport transport, Engine engine, RankMessages messages, Boundaries boundaries)
        implements
            Outbox.Transport<Tensor> {
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
        boundaries.release(messages.senderOf(edge), tensor);
    }

    @Override
    public long byteCount(Tensor tensor) {
        return tensor.byteCount();
    }
}
