package dev.troupe.transport.tcp;

import dev.troupe.port.DataPort;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.NodeMap;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import jdk.net.ExtendedSocketOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the connections of a node to the nodes of other machines, one for each, and makes them again where they break. Of
 * two nodes the first one of the file calls.
 *
 * <p>Thread rule: any thread; calls and answers have virtual threads of their own. A connection that is ready waits until
 * {@link #next} takes it.
 */
public final class Connections implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Connections.class);
    /** The longest wait for a connection, and for each answer. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final long FIRST_PAUSE_NANOS = 20_000_000;
    private static final long LONGEST_PAUSE_NANOS = 500_000_000;
    /** Seconds without a byte after which the kernel asks whether the other machine is there, and between its questions. */
    private static final int KEEP_ALIVE_IDLE_SECONDS = 5;
    private static final int KEEP_ALIVE_INTERVAL_SECONDS = 2;
    private static final int KEEP_ALIVE_QUESTIONS = 5;

    private final int self;
    private final int addresses;
    private final NodeMap nodes;
    private final DataPort port;
    private final Optional<Security> security;
    private final Map<Integer, Wanted> wanted = new ConcurrentHashMap<>();
    private final Queue<Ready> ready = new ConcurrentLinkedQueue<>();
    private volatile Runnable wake = () -> {
    };
    private volatile boolean isClosed;

    /**
     * A connection that is made: its hellos are exchanged.
     *
     * @param since
     *            the epoch since which both nodes have their present ranks
     */
    public record Ready(int node, int since, Wire wire) {
        /** Closes the connection, which no peer asked for. */
        public void close() {
            Connections.close(wire);
        }
    }

    /** A connection that a node wants; an object for each time that it is made. */
    private record Wanted(int since, Object once) {
    }

    /**
     * Makes the connections of a node; calls of others are answered at once, and refused until they are {@link #want
     * wanted}.
     *
     * @param nodes
     *            this node and the addresses; the nodes of ranks do not matter
     * @param port
     *            the data port of this node, which is closed with the connections
     * @param security
     *            TLS, or empty for connections in the clear
     */
    public Connections(NodeMap nodes, DataPort port, Optional<Security> security) {
        this.nodes = nodes;
        this.self = nodes.self();
        this.addresses = WireHello.addresses(nodes);
        this.port = port;
        this.security = security;
        port.answer(DataPort.Use.TENSORS, this::answer);
    }

    /** Sets what is done when a connection is ready. */
    public void onReady(Runnable task) {
        wake = task;
    }

    /**
     * Wants a connection to a node, in place of any before.
     *
     * @param since
     *            the epoch since which both nodes have their present ranks
     */
    public void want(int node, int since) {
        Wanted now = new Wanted(since, new Object());
        wanted.put(node, now);
        if (self < node) {
            Thread.ofVirtual().name("tensors-to-" + node).start(() -> call(node, now));
        }
    }

    /** Wants no connection any more that was wanted since an epoch. */
    public void forget(int node, int since) {
        wanted.computeIfPresent(node, (_, what) -> what.since() == since ? null : what);
    }

    /** Returns the next connection that is ready; empty where there is none. The caller closes it. */
    public Optional<Ready> next() {
        return Optional.ofNullable(ready.poll());
    }

    private boolean isWanted(int node, Wanted what) {
        return !isClosed && what.equals(wanted.get(node));
    }

    private void call(int node, Wanted what) {
        long pause = FIRST_PAUSE_NANOS;
        while (isWanted(node, what)) {
            try {
                offer(node, what, dial(node, what.since()));
                return;
            } catch (IOException | RuntimeException failure) {
                LOG.debug("node {} does not answer for tensors", node, failure);
                LockSupport.parkNanos(pause);
                pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
            }
        }
    }

    private Wire dial(int node, int since) throws IOException {
        Endpoint endpoint = nodes.endpoints().get(node);
        SocketChannel socket = DataPort.call(new InetSocketAddress(endpoint.host(), endpoint.port()),
                DataPort.Use.TENSORS, PATIENCE);
        try {
            Wire wire = wire(socket, true);
            WireHello hello = new WireHello(addresses, self, node, since);
            hello.write(wire);
            requireEqual(hello.answered(), WireHello.read(wire, PATIENCE));
            return wire;
        } catch (IOException | RuntimeException failure) {
            socket.close();
            throw failure;
        }
    }

    private void answer(SocketChannel socket) throws IOException {
        Wire wire = wire(socket, false);
        WireHello theirs = WireHello.read(wire, PATIENCE);
        Wanted what = wanted.get(theirs.from());
        if (what == null || isClosed) {
            throw new IOException("no connection to node " + theirs.from() + " is wanted");
        }
        WireHello ours = new WireHello(addresses, self, theirs.from(), what.since());
        requireEqual(ours.answered(), theirs);
        ours.write(wire);
        offer(theirs.from(), what, wire);
    }

    private static void requireEqual(WireHello expected, WireHello found) throws IOException {
        if (!expected.equals(found)) {
            throw new IOException("expected " + expected + ", but found " + found);
        }
    }

    private Wire wire(SocketChannel socket, boolean isCaller) throws IOException {
        socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
        socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        socket.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, KEEP_ALIVE_IDLE_SECONDS);
        socket.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, KEEP_ALIVE_INTERVAL_SECONDS);
        socket.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, KEEP_ALIVE_QUESTIONS);
        socket.socket().setSoTimeout(Math.toIntExact(PATIENCE.toMillis()));
        Wire wire = security.isEmpty()
                ? new PlainWire(socket)
                : TlsWire.shake(socket, security.get(), isCaller);
        socket.configureBlocking(false);
        return wire;
    }

    private void offer(int node, Wanted what, Wire wire) {
        ready.add(new Ready(node, what.since(), wire));
        wake.run();
        if (isClosed) {
            discard();
        }
    }

    private void discard() {
        for (Ready left = ready.poll(); left != null; left = ready.poll()) {
            left.close();
        }
    }

    static void close(Wire wire) {
        try {
            wire.close();
        } catch (IOException failure) {
            LOG.debug("a connection could not be closed", failure);
        }
    }

    /** Ends all calls; closes connections that were never taken, and the port. */
    @Override
    public void close() {
        isClosed = true;
        discard();
        port.close();
    }
}
