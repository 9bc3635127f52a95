package dev.troupe.snapshot.stream;

import dev.troupe.snapshot.copy.CopyCounters;
import dev.troupe.snapshot.copy.CopyStore;
import dev.troupe.snapshot.copy.SnapshotCopies;
import dev.troupe.snapshot.stream.CopyAgent.Command;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportException;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.tcp.Connections;
import dev.troupe.wire.DriverClient;
import dev.troupe.wire.StreamIds;
import io.aeron.exceptions.AeronException;
import io.aeron.logbuffer.LogBufferDescriptor;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The {@link SnapshotCopies} of a node, over the media driver of its machine and connections to other machines, with its own
 * thread.
 */
public final class StreamedCopies implements SnapshotCopies {
    private static final Logger LOG = LoggerFactory.getLogger(StreamedCopies.class);
    /** Half a term may be in flight, sixteen frames over IPC. The driver's directory has three terms. */
    static final int TERM_LENGTH = 2 << 20;
    /** The bytes of a stream in the media driver's directory at each of its ends; once if both share the driver. */
    public static final long STREAM_BYTES = LogBufferDescriptor.computeLogLength(TERM_LENGTH,
            LogBufferDescriptor.PAGE_MIN_SIZE);
    private static final long CLOSE_TIMEOUT_SECONDS = 5;

    private final NodeMap nodes;
    private final CopyAgent agent;
    private final LiveCopyCounters counters;
    private final int receiverId;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    private StreamedCopies(NodeMap nodes, CopyAgent agent, LiveCopyCounters counters, int receiverId) {
        this.receiverId = receiverId;
        this.nodes = nodes;
        this.agent = agent;
        this.counters = counters;
    }

    /**
     * Connects to the media driver, and begins to receive copies.
     *
     * @param nodes this node, and the channels between nodes; the places of ranks do not matter
     * @param settings the settings of the transport; copies from other machines arrive by its network
     * @param connections the connections of this node, closed by their owner; empty if streams lead to other machines too
     * @param snapshots the store of sent and received snapshots, closed after this object
     * @throws TransportException if no driver runs, or a channel cannot be opened; no files remain
     */
    public static StreamedCopies connect(NodeMap nodes, TransportSettings settings, Path driverDirectory,
            Optional<Connections> connections, CopyStore snapshots, Listener listener) {
        return connect(nodes, settings, driverDirectory, connections, snapshots, listener,
                ThreadLocalRandom.current().nextInt(1, StreamIds.MOST_RECEIVERS));
    }

    static StreamedCopies connect(NodeMap nodes, TransportSettings settings, Path driverDirectory,
            Optional<Connections> connections, CopyStore snapshots, Listener listener, int receiverId) {
        int self = nodes.self();
        LiveCopyCounters counters = new LiveCopyCounters();
        int[] byStream = IntStream.range(0, nodes.nodeCount()).filter(node -> node != self)
                .filter(node -> connections.isEmpty() || nodes.shareMachine(node, self)).toArray();
        if (byStream.length == 0) {
            CopyAgent agent = new CopyAgent(nodes, receiverId, Optional.empty(), connections, snapshots, listener,
                    counters);
            agent.thread().start();
            return new StreamedCopies(nodes, agent, counters, receiverId);
        }
        DriverClient client = null;
        CopyAgent agent = null;
        try {
            client = DriverClient.invoked(driverDirectory, "copies");
            agent = new CopyAgent(nodes, receiverId, Optional.of(client), connections, snapshots, listener,
                    counters);
            IntStream.of(byStream).mapToObj(node -> settings.receives(nodes.channel(node, self))).distinct()
                    .forEach(agent::listen);
            agent.thread().start();
            return new StreamedCopies(nodes, agent, counters, receiverId);
        } catch (RuntimeException failure) {
            if (agent != null) {
                agent.onClose(); // its thread has not begun
            } else if (client != null) {
                client.close();
            }
            if (!(failure instanceof AeronException refused)) {
                throw failure;
            }
            throw new TransportException("copies of snapshots cannot come to node " + self + ": " + refused.getMessage()
                    + "; see that the address is of this machine and its port is free", refused);
        }
    }

    @Override
    public int receiverId() {
        return receiverId;
    }

    @Override
    public void send(int toNode, int itsReceiverId, int rank, int stage, long stepsDone) {
        Objects.checkIndex(toNode, nodes.nodeCount());
        if (toNode == nodes.self()) {
            throw new IllegalArgumentException("a copy goes to another node than " + toNode + ", which this is");
        }
        agent.submit(new Command.Send(toNode, itsReceiverId, rank, stage, stepsDone));
    }

    @Override
    public void forget(int node) {
        agent.submit(new Command.Forget(node));
    }

    @Override
    public CopyCounters counters() {
        return counters.counters();
    }

    @Override
    public void close() {
        if (!isClosed.compareAndSet(false, true)) {
            return;
        }
        agent.stop();
        LOG.debug("node {}: {}", nodes.self(), counters.counters());
        if (!agent.thread().join(CLOSE_TIMEOUT_SECONDS)) {
            LOG.warn("the thread of the copies did not end within {} seconds; it is at {}", CLOSE_TIMEOUT_SECONDS,
                    agent.thread().whereItIs());
        }
    }
}
