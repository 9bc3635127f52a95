package dev.troupe.transport.aeron;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReferenceArray;

import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.transport.Edge;
import dev.troupe.transport.MessageId;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.PendingTransfer;
import dev.troupe.transport.Transport;
import dev.troupe.transport.TransportCounters;
import dev.troupe.transport.TransportException;
import dev.troupe.transport.TransportListener;
import dev.troupe.transport.TransportSettings;

/** The {@link Transport} over Aeron, with a media driver of its own in this JVM. */
public final class AeronTransport implements Transport {
    private static final Logger LOG = LoggerFactory.getLogger(AeronTransport.class);
    private static final long CLOSE_TIMEOUT_SECONDS = 5;
    private static final long ANSWER_TIMEOUT_SECONDS = 1;

    private final NodeMap nodes;
    private final Driver driver;
    private final Agent agent;
    private final Tally tally;
    private final NanoClock clock;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final AtomicReferenceArray<TransportListener> registered;

    private AeronTransport(NodeMap nodes, Driver driver, Agent agent, Tally tally, NanoClock clock) {
        this.nodes = nodes;
        this.driver = driver;
        this.agent = agent;
        this.tally = tally;
        this.clock = clock;
        this.registered = new AtomicReferenceArray<>(nodes.worldSize());
    }

    /**
     * Starts the transport of a node.
     *
     * @throws TransportException
     *             if it cannot start: too little room, directory in use, port taken; the message says what to change,
     *             and nothing is left behind
     */
    public static AeronTransport start(NodeMap nodes, TransportSettings settings) {
        NanoClock clock = SystemNanoClock.INSTANCE;
        Tally tally = new Tally();
        Driver driver = Driver.of(nodes, settings);
        try {
            AeronClient client = AeronClient.open(driver, nodes, settings, tally);
            Agent agent = new Agent(nodes, client, tally, clock);
            agent.thread().start();
            LOG.debug("transport of node {} of {} started in {}", nodes.self(), nodes.nodeCount(), driver.directory());
            return new AeronTransport(nodes, driver, agent, tally, clock);
        } catch (TransportException e) {
            driver.close();
            throw e;
        } catch (RuntimeException e) {
            driver.close();
            throw new TransportException("the transport did not start: " + e.getMessage(), e);
        }
    }

    /** Where the media driver of this node keeps its files; other processes of the machine find it there. */
    public Path driverDirectory() {
        return driver.directory();
    }

    @Override
    public void register(int rank, TransportListener listener) {
        Objects.requireNonNull(listener, "listener");
        if (!nodes.isLocal(rank)) {
            throw new IllegalArgumentException("a listener must be of a rank that lives on node " + nodes.self()
                    + ", but found rank " + rank + " of a world of " + nodes.worldSize());
        }
        // Into the queue first: whoever sees the rank registered is behind it in the queue.
        agent.submit(new Command.Register(rank, listener));
        registered.set(rank, listener);
    }

    @Override
    public void grant(int grantEpoch, Edge edge, Engine engine, Tensor buffer) {
        check(edge.toRank(), edge.fromRank(), edge, grantEpoch, engine, buffer);
        agent.submit(new Command.Grant(grantEpoch, edge, engine, buffer, clock.nanoTime()));
    }

    @Override
    public void send(MessageId id, Engine engine, Tensor tensor) {
        send(id, engine, tensor, false);
    }

    @Override
    public void sendDamaged(MessageId id, Engine engine, Tensor tensor) {
        send(id, engine, tensor, true);
    }

    private void send(MessageId id, Engine engine, Tensor tensor, boolean isDamaged) {
        check(id.edge().fromRank(), id.edge().toRank(), id.edge(), id.epoch(), engine, tensor);
        agent.submit(new Command.Send(id, engine, tensor, clock.nanoTime(), isDamaged));
    }

    private void check(int own, int other, Edge edge, int itsEpoch, Engine engine, Tensor tensor) {
        Objects.requireNonNull(engine, "engine");
        if (closed.get() || agent.hasEnded()) {
            throw new IllegalStateException("the transport is closed or its thread has ended: " + edge);
        }
        if (!nodes.isLocal(own) || registered.get(own) == null) {
            throw new IllegalArgumentException(
                    "rank " + own + " must be registered on node " + nodes.self() + " first: " + edge);
        }
        if (!nodes.contains(other)) {
            throw new IllegalArgumentException(
                    "rank " + other + " is not of this world of " + nodes.worldSize() + " ranks: " + edge);
        }
        if (!nodes.peers().contains(nodes.nodeOf(other))) {
            throw new IllegalArgumentException("rank " + other + " lives on node " + nodes.nodeOf(other)
                    + ", which is no peer of node " + nodes.self() + ": " + edge);
        }
        if (tensor.shape().rank() > FrameWriter.MAX_TENSOR_RANK) {
            throw new IllegalArgumentException("a tensor on the wire must have at most " + FrameWriter.MAX_TENSOR_RANK
                    + " dimensions, but found " + tensor.shape() + ": " + edge);
        }
        if (itsEpoch > agent.announcedEpoch()) {
            throw new IllegalArgumentException(
                    "epoch " + itsEpoch + " has not begun, the present one is " + agent.announcedEpoch() + ": " + edge);
        }
    }

    @Override
    public void epoch(int newEpoch) {
        int present = agent.announcedEpoch();
        if (newEpoch < present) {
            throw new IllegalArgumentException(
                    "the epoch only grows: it is " + present + ", but found " + newEpoch);
        }
        // Into the queue first: whoever may use the new epoch is behind it in the queue.
        agent.submit(new Command.Epoch(newEpoch));
        agent.announce(newEpoch);
    }

    @Override
    public List<PendingTransfer> pending() {
        var answer = new CompletableFuture<List<PendingTransfer>>();
        agent.submit(new Command.Pending(answer));
        try {
            return answer.get(ANSWER_TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new IllegalStateException("the transport thread did not answer within " + ANSWER_TIMEOUT_SECONDS
                    + " second; it stands at " + whereItStands(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the transport thread was asked what waits", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("the transport thread could not say what waits", e);
        }
    }

    private String whereItStands() {
        StackTraceElement[] stack = agent.thread().getStackTrace();
        return stack.length == 0 ? "its end" : stack[0] + (stack.length > 1 ? ", called by " + stack[1] : "");
    }

    @Override
    public TransportCounters counters() {
        return tally.counters();
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalStateException
     *             if a listener calls it: the transport thread cannot wait for itself
     */
    @Override
    public void close() {
        if (Thread.currentThread() == agent.thread()) {
            throw new IllegalStateException("a transport listener must not close the transport");
        }
        if (closed.getAndSet(true)) {
            return;
        }
        agent.stop();
        if (!Driver.joinedInTime(agent.thread(), CLOSE_TIMEOUT_SECONDS)) {
            LOG.error("the transport thread did not end within {} seconds; it stands at {}", CLOSE_TIMEOUT_SECONDS,
                    whereItStands());
        }
        driver.close();
    }
}
