package dev.troupe.bench.hop;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKind;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.Transport;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Two ranks of one JVM that exchange tensors. Rank 0 sends messages; rank 1 grants each buffer again as soon as a message
 * has landed and, if it echoes, first sends the message back. The transport's own thread answers, without actors.
 *
 * <p>Thread rule: one thread measures; between two measurements no message is in flight.
 */
final class HopPair implements AutoCloseable {
    private static final long TIMEOUT_SECONDS = 60;
    private static final Edge THERE = new Edge(0, 1, 1, MessageKind.ACTIVATION);
    private static final Edge BACK = new Edge(1, 0, 0, MessageKind.GRADIENT);

    private final Transport transport;
    private final Engine engine;
    private final List<Tensor> sent = new ArrayList<>();
    private final List<Tensor> granted = new ArrayList<>();
    private volatile Measurement measurement;

    /** The current measurement, which the transport's thread uses after its start. */
    private static final class Measurement {
        private final boolean echoes;
        private final CountDownLatch toLand;
        private int toSend;
        private final List<Double> roundTripNanos = new ArrayList<>();
        private long leftAt;
        private volatile String fault;

        Measurement(int messages, boolean echoes) {
            this.echoes = echoes;
            this.toSend = messages;
            this.toLand = new CountDownLatch(messages);
        }
    }

    /**
     * Registers both ranks and grants the first buffers.
     *
     * @param credits the number of granted buffers, and of tensors being sent
     */
    HopPair(Transport transport, Engine engine, int messageBytes, int credits) {
        this.transport = transport;
        this.engine = engine;
        transport.register(0, new Sender());
        transport.register(1, new Receiver());
        Shape shape = Shape.of(messageBytes / DataType.FLOAT32.elementBytes());
        for (int i = 0; i < credits; i++) {
            sent.add(engine.allocate(DataType.FLOAT32, shape));
            granted.add(engine.allocate(DataType.FLOAT32, shape));
            transport.grant(0, THERE, engine, granted.getLast());
        }
        granted.add(engine.allocate(DataType.FLOAT32, shape));
        transport.grant(0, BACK, engine, granted.getLast());
    }

    /** Returns the seconds until {@code messages} messages, sent as fast as credits allow, have landed. */
    double stream(int messages) throws InterruptedException {
        Measurement begun = new Measurement(Math.max(messages, sent.size()), false);
        begun.toSend -= sent.size();
        measurement = begun;
        long start = System.nanoTime();
        sent.forEach(tensor -> transport.send(new MessageId(0, 0, THERE, 0), engine, tensor));
        await(begun);
        return (System.nanoTime() - start) / 1e9;
    }

    /** Returns the round-trip time of each of {@code messages} messages in nanoseconds, with one in flight at a time. */
    List<Double> roundTrips(int messages) throws InterruptedException {
        Measurement begun = new Measurement(messages, true);
        begun.toSend--;
        begun.leftAt = System.nanoTime();
        measurement = begun;
        transport.send(new MessageId(0, 0, THERE, 0), engine, sent.getFirst());
        await(begun);
        return begun.roundTripNanos;
    }

    private static void await(Measurement begun) throws InterruptedException {
        if (!begun.toLand.await(TIMEOUT_SECONDS, TimeUnit.SECONDS) || begun.fault != null) {
            throw new IllegalStateException("the messages did not all land within " + TIMEOUT_SECONDS + " seconds: "
                    + (begun.fault == null ? "no fault was reported" : begun.fault));
        }
    }

    /** Rank 0. */
    private final class Sender implements TransportListener {
        @Override
        public void onLanded(MessageId id, Tensor tensor, int rows) {
            Measurement running = measurement;
            long now = System.nanoTime();
            running.roundTripNanos.add((double) (now - running.leftAt));
            transport.grant(0, BACK, engine, tensor);
            if (running.toSend > 0) {
                running.toSend--;
                running.leftAt = System.nanoTime();
                transport.send(new MessageId(0, 0, THERE, 0), engine, sent.getFirst());
            }
            running.toLand.countDown();
        }

        @Override
        public void onSent(MessageId id, Tensor tensor, long creditNanos) {
            Measurement running = measurement;
            if (!running.echoes && running.toSend > 0) {
                running.toSend--;
                transport.send(id, engine, tensor);
            }
        }

        @Override
        public void onReturned(Edge edge, Tensor tensor) {
            // Only at the end.
        }

        @Override
        public void onFault(TransportFault fault) {
            measurement.fault = fault.sentence();
        }
    }

    /** Rank 1. */
    private final class Receiver implements TransportListener {
        @Override
        public void onLanded(MessageId id, Tensor tensor, int rows) {
            Measurement running = measurement;
            if (running.echoes) {
                transport.send(new MessageId(0, 0, BACK, 0), engine, tensor);
            } else {
                transport.grant(0, THERE, engine, tensor);
                running.toLand.countDown();
            }
        }

        @Override
        public void onSent(MessageId id, Tensor tensor, long creditNanos) {
            transport.grant(0, THERE, engine, tensor);
        }

        @Override
        public void onReturned(Edge edge, Tensor tensor) {
            // Only at the end.
        }

        @Override
        public void onFault(TransportFault fault) {
            measurement.fault = fault.sentence();
        }
    }

    /** Closes the transport, which uses the tensors, then the tensors. */
    @Override
    public void close() {
        transport.close();
        sent.forEach(Tensor::close);
        granted.forEach(Tensor::close);
    }
}
