package dev.troupe.transport.link;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.protocol.Edge;
import dev.troupe.transport.Counters;
import dev.troupe.transport.FrameHook;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.Network;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.PendingTransfer;
import dev.troupe.transport.Transport;
import dev.troupe.transport.TransportCounters;
import dev.troupe.transport.TransportException;
import dev.troupe.transport.TransportListener;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.driver.DriverHandle;
import dev.troupe.transport.frame.FrameWriter;
import dev.troupe.transport.tcp.Connections;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The {@link Transport} of a node. Within a machine it uses Aeron's streams, with a media driver in this JVM or a shared
 * one. Between machines it uses TCP connections or, if {@code transport.network = udp}, Aeron's streams.
 */
public final class LinkTransport implements Transport {
    private static final Logger LOG = LoggerFactory.getLogger(LinkTransport.class);
    private static final long CLOSE_TIMEOUT_SECONDS = 5;
    private static final long ANSWER_TIMEOUT_SECONDS = 1;

    private final int ownStreamId;
    private final DriverHandle driver;
    private final TransportAgent agent;
    private final Counters counters;
    private final NanoClock clock;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final AtomicReferenceArray<TransportListener> registered;

    private LinkTransport(int worldSize, int ownStreamId, DriverHandle driver, TransportAgent agent, Counters counters,
            NanoClock clock) {
        this.ownStreamId = ownStreamId;
        this.driver = driver;
        this.agent = agent;
        this.counters = counters;
        this.clock = clock;
        this.registered = new AtomicReferenceArray<>(worldSize);
    }

    /**
     * Starts the transport of a node.
     *
     * @throws TransportException if it cannot start: too little space, directory in use, port taken; the message names the
     *     remedy, and no files remain
     */
    public static LinkTransport start(NodeMap nodes, TransportSettings settings) {
        return start(nodes, settings, FrameHook.NONE);
    }

    /** Starts the transport of a node with injected damage. */
    public static LinkTransport start(NodeMap nodes, TransportSettings settings, FrameHook hook) {
        return start(nodes, settings,
                needsConnections(nodes, settings) ? Optional.of(Connections.open(nodes)) : Optional.empty(), hook);
    }

    /**
     * Starts the transport of a node of a cluster.
     *
     * @param connections the connections of the node, closed with the transport; empty unless {@link #needsConnections}
     * @param hook {@link FrameHook#NONE} if no faults are injected
     * @throws TransportException as {@link #start(NodeMap, TransportSettings)}
     */
    public static LinkTransport start(NodeMap nodes, TransportSettings settings, Optional<Connections> connections,
            FrameHook hook) {
        try {
            return begin(nodes, settings, connections, hook);
        } catch (RuntimeException e) {
            connections.ifPresent(Connections::close);
            throw e;
        }
    }

    /** Returns the protocol to other machines, also of groups and copies; empty if all nodes are on one machine. */
    public static Optional<Network> betweenMachines(NodeMap nodes, TransportSettings settings) {
        return IntStream.range(0, nodes.nodeCount()).allMatch(node -> nodes.shareMachine(nodes.self(), node))
                ? Optional.empty()
                : Optional.of(settings.network());
    }

    /** Returns whether a node needs connections: other nodes are on other machines, and the network is TCP. */
    public static boolean needsConnections(NodeMap nodes, TransportSettings settings) {
        return betweenMachines(nodes, settings).filter(Network.TCP::equals).isPresent();
    }

    private static LinkTransport begin(NodeMap nodes, TransportSettings settings, Optional<Connections> connections,
            FrameHook hook) {
        NanoClock clock = SystemNanoClock.INSTANCE;
        Counters counters = new Counters();
        DriverHandle driver = DriverHandle.of(nodes, settings);
        try {
            Links links = Links.open(driver, nodes, settings, counters, connections, hook);
            TransportAgent agent = new TransportAgent(nodes, links, counters, clock);
            agent.thread().start();
            LOG.debug("transport of node {} of {} started in {}", nodes.self(), nodes.nodeCount(), driver.directory());
            return new LinkTransport(nodes.worldSize(), links.ownStreamId(), driver, agent, counters, clock);
        } catch (TransportException e) {
            driver.close();
            throw e;
        } catch (RuntimeException e) {
            driver.close();
            throw new TransportException("the transport did not start: " + e.getMessage(), e);
        }
    }

    int ownStreamId() {
        return ownStreamId;
    }

    /** Returns the directory of this node's media driver, for other processes of the machine. */
    public Path driverDirectory() {
        return driver.directory();
    }

    @Override
    public synchronized void register(int rank, TransportListener listener) {
        Objects.requireNonNull(listener, "listener");
        NodeMap nodes = agent.announced().nodes();
        if (!nodes.isLocal(rank)) {
            throw new IllegalArgumentException("a listener must be of a rank that lives on node " + nodes.self()
                    + ", but found rank " + rank + " of a world of " + nodes.worldSize());
        }
        // Queued first, so that it precedes all commands of threads that see the rank registered.
        agent.submit(new TransportAgent.Command.Register(rank, listener));
        registered.set(rank, listener);
    }

    @Override
    public void grant(int grantEpoch, Edge edge, Engine engine, Tensor buffer) {
        TransportListener owner = check(edge.toRank(), edge.fromRank(), edge, grantEpoch, engine, buffer);
        agent.submit(new PostedReceives.Buffer(grantEpoch, edge, engine, buffer, engine.fence(), clock.nanoTime(),
                owner));
    }

    @Override
    public void send(MessageId id, Engine engine, Tensor tensor) {
        TransportListener owner = check(id.edge().fromRank(), id.edge().toRank(), id.edge(), id.epoch(), engine,
                tensor);
        agent.submit(new SendQueue.Outgoing(id, engine, tensor, engine.fence(), clock.nanoTime(), owner));
    }

    private TransportListener check(int own, int other, Edge edge, int itsEpoch, Engine engine, Tensor tensor) {
        Objects.requireNonNull(engine, "engine");
        TransportAgent.Command.Epoch present = agent.announced();
        NodeMap nodes = present.nodes();
        if (closed.get() || agent.hasEnded()) {
            throw new IllegalStateException("the transport is closed or its thread has ended: " + edge);
        }
        TransportListener owner = nodes.isLocal(own) ? registered.get(own) : null;
        if (owner == null) {
            throw new IllegalArgumentException(
                    "rank " + own + " must be registered on node " + nodes.self() + " first: " + edge);
        }
        if (!nodes.contains(other)) {
            throw new IllegalArgumentException(
                    "rank " + other + " is not of this world of " + nodes.worldSize() + " ranks: " + edge);
        }
        // A tensor of an earlier epoch is returned; its receiver may have been on another node.
        if (itsEpoch == present.epoch() && !nodes.peers().contains(nodes.nodeOf(other))) {
            throw new IllegalArgumentException("rank " + other + " lives on node " + nodes.nodeOf(other)
                    + ", which is no peer of node " + nodes.self() + ": " + edge);
        }
        if (tensor.shape().rank() > FrameWriter.MAX_TENSOR_RANK) {
            throw new IllegalArgumentException("a tensor on the wire must have at most " + FrameWriter.MAX_TENSOR_RANK
                    + " dimensions, but found " + tensor.shape() + ": " + edge);
        }
        if (itsEpoch > present.epoch()) {
            throw new IllegalArgumentException(
                    "epoch " + itsEpoch + " has not begun, the present one is " + present.epoch() + ": " + edge);
        }
        return owner;
    }

    @Override
    public synchronized void epoch(int newEpoch) {
        TransportAgent.Command.Epoch present = agent.announced();
        if (newEpoch < present.epoch()) {
            throw new IllegalArgumentException(
                    "the epoch only grows: it is " + present.epoch() + ", but found " + newEpoch);
        }
        begin(new TransportAgent.Command.Epoch(newEpoch, present.nodes()));
    }

    @Override
    public synchronized void epoch(int newEpoch, NodeMap nodes) {
        TransportAgent.Command.Epoch present = agent.announced();
        NodeMap before = present.nodes();
        if (newEpoch <= present.epoch()) {
            throw new IllegalArgumentException("ranks move in an epoch after the present one, " + present.epoch()
                    + ", but found " + newEpoch);
        }
        if (nodes.self() != before.self() || nodes.worldSize() != before.worldSize()
                || !nodes.endpoints().equals(before.endpoints())) {
            throw new IllegalArgumentException("a new map must be of node " + before.self() + " in a world of "
                    + before.worldSize() + " ranks on nodes " + before.endpoints() + ", but found node " + nodes.self()
                    + ", " + nodes.worldSize() + " ranks, nodes " + nodes.endpoints());
        }
        begin(new TransportAgent.Command.Epoch(newEpoch, nodes));
        for (int rank = 0; rank < nodes.worldSize(); rank++) {
            if (!nodes.isLocal(rank)) {
                registered.set(rank, null);
            }
        }
    }

    private void begin(TransportAgent.Command.Epoch begun) {
        // Queued first, so that it precedes all commands of threads that use the new epoch.
        agent.submit(begun);
        agent.announce(begun);
    }

    @Override
    public List<PendingTransfer> pending() {
        var answer = new CompletableFuture<List<PendingTransfer>>();
        agent.submit(new TransportAgent.Command.Pending(answer));
        try {
            return answer.get(ANSWER_TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new IllegalStateException("the transport thread did not answer within " + ANSWER_TIMEOUT_SECONDS
                    + " second; it is at " + agent.thread().whereItIs(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the transport thread was asked what waits", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("the transport thread could not list what waits", e);
        }
    }

    @Override
    public TransportCounters counters() {
        return counters.counters();
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalStateException if a listener calls it, since the transport thread cannot wait for itself
     */
    @Override
    public void close() {
        if (agent.thread().isCurrent()) {
            throw new IllegalStateException("a transport listener must not close the transport");
        }
        if (closed.getAndSet(true)) {
            return;
        }
        agent.stop();
        if (!agent.thread().join(CLOSE_TIMEOUT_SECONDS)) {
            LOG.error("the transport thread did not end within {} seconds; it is at {}", CLOSE_TIMEOUT_SECONDS,
                    agent.thread().whereItIs());
        }
        driver.close();
    }
}
