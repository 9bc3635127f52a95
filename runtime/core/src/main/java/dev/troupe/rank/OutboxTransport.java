package dev.troupe.rank;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKey;
import dev.troupe.protocol.rank.Outbox;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.Transport;
import java.util.function.BiConsumer;

/**
 * The transport of a node for the tensors of one rank's engine.
 *
 * @param released takes back a tensor that was sent on an edge and is not needed any more
 */
record OutboxTransport(Transport transport, Engine engine, BiConsumer<Edge, Tensor> released)
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
        released.accept(edge, tensor);
    }

    @Override
    public long byteCount(Tensor tensor) {
        return tensor.byteCount();
    }
}
