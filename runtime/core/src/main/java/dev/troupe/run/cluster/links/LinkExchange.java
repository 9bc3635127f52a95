package dev.troupe.run.cluster.links;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.plan.UsageException;
import dev.troupe.protocol.Edge;
import dev.troupe.protocol.MessageKind;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.Transport;
import dev.troupe.transport.TransportFault;
import dev.troupe.transport.TransportListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The messages of one node to and from all others, each node with one rank. A signal has one element and a number, which
 * travels as the number of its pass; a message is as large as an activation between two stages.
 *
 * <p>Thread rule: one thread, which waits for messages; buffers are granted again on the transport's thread.
 */
final class LinkExchange implements TransportListener, AutoCloseable {
    private static final MessageKind SIGNAL = MessageKind.GRADIENT;
    private static final MessageKind MESSAGE = MessageKind.ACTIVATION;
    private static final int SIGNALS_IN_FLIGHT = 8;
    /** In place of a number: nothing lands any more. */
    private static final long ENDED = -1;

    private final List<String> names;
    private final int self;
    private final Transport transport;
    private final Engine engine;
    private final List<Tensor> tensors = new ArrayList<>();
    /** By edge to another node: the tensors that can be sent. */
    private final Map<Edge, BlockingQueue<Tensor>> idle = new ConcurrentHashMap<>();
    /** By edge to this node: the numbers of what has landed. */
    private final Map<Edge, BlockingQueue<Long>> landed = new ConcurrentHashMap<>();
    private Duration patience;
    private volatile Optional<String> fault = Optional.empty();

    /**
     * Registers the node's rank and grants its buffers.
     *
     * @param names all nodes, this one too
     * @param activation shape of a message, in the type of products
     * @param credits messages that may be in flight
     * @param patience longest wait for a message, until {@link #waitAtMost}
     */
    LinkExchange(List<String> names, int self, Transport transport, Engine engine, Shape activation, int credits,
            Duration patience) {
        this.names = List.copyOf(names);
        this.self = self;
        this.transport = transport;
        this.engine = engine;
        this.patience = patience;
        transport.register(self, this);
        for (int node = 0; node < names.size(); node++) {
            if (node != self) {
                open(node, SIGNAL, Shape.of(1), SIGNALS_IN_FLIGHT);
                open(node, MESSAGE, activation, credits);
            }
        }
    }

    private void open(int node, MessageKind kind, Shape shape, int count) {
        BlockingQueue<Tensor> toSend = new LinkedBlockingQueue<>();
        idle.put(new Edge(self, node, 0, kind), toSend);
        Edge back = new Edge(node, self, 0, kind);
        landed.put(back, new LinkedBlockingQueue<>());
        for (int tensor = 0; tensor < count; tensor++) {
            toSend.add(allocate(shape));
            transport.grant(0, back, engine, allocate(shape));
        }
    }

    private Tensor allocate(Shape shape) {
        Tensor tensor = engine.allocate(engine.computeType(), shape);
        tensors.add(tensor);
        return tensor;
    }

    void waitAtMost(Duration other) {
        patience = other;
    }

    void signal(int to, long number) throws InterruptedException {
        send(to, SIGNAL, number);
    }

    long signalOf(int from) throws InterruptedException {
        return next(from, SIGNAL);
    }

    void message(int to) throws InterruptedException {
        send(to, MESSAGE, 0);
    }

    void awaitMessage(int from) throws InterruptedException {
        next(from, MESSAGE);
    }

    private void send(int to, MessageKind kind, long number) throws InterruptedException {
        Edge edge = new Edge(self, to, 0, kind);
        transport.send(new MessageId(0, number, edge, 0), engine, idle(edge));
    }

    private Tensor idle(Edge edge) throws InterruptedException {
        Tensor tensor = idle.get(edge).poll(patience.toMillis(), TimeUnit.MILLISECONDS);
        if (tensor == null) {
            throw late(edge.toRank(), " takes no message of ");
        }
        return tensor;
    }

    /** Waits for the last signals, which a transport that closes would drop; nothing can be sent afterwards. */
    void awaitSent() throws InterruptedException {
        for (Edge edge : idle.keySet()) {
            for (int signal = 0; edge.kind() == SIGNAL && signal < SIGNALS_IN_FLIGHT; signal++) {
                idle(edge);
            }
        }
    }

    private long next(int from, MessageKind kind) throws InterruptedException {
        Long number = landed.get(new Edge(from, self, 0, kind)).poll(patience.toMillis(), TimeUnit.MILLISECONDS);
        if (number == null || number == ENDED) {
            throw late(from, " has sent nothing to ");
        }
        return number;
    }

    private UsageException late(int node, String what) {
        return new UsageException("node " + names.get(node) + what + "node " + names.get(self) + " within "
                + patience.toSeconds() + " seconds" + fault.map(sentence -> "; the last fault: " + sentence).orElse("")
                + ": start ./troupe profile --node on all nodes at about the same time");
    }

    @Override
    public void onLanded(MessageId id, Tensor tensor, int rows) {
        transport.grant(0, id.edge(), engine, tensor);
        landed.get(id.edge()).add(id.pass());
    }

    @Override
    public void onSent(MessageId id, Tensor tensor, long creditNanos) {
        idle.get(id.edge()).add(tensor);
    }

    @Override
    public void onReturned(Edge edge, Tensor tensor) {
        // Only at the end.
    }

    @Override
    public void onFault(TransportFault what) {
        fault = Optional.of(what.sentence());
        if (what instanceof TransportFault.TransportEnded) {
            landed.values().forEach(queue -> queue.add(ENDED));
        }
    }

    /** Closes the transport, which uses the tensors, then the tensors. */
    @Override
    public void close() {
        transport.close();
        tensors.forEach(Tensor::close);
    }
}
