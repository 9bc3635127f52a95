package dev.troupe.transport.tcp;

import dev.troupe.port.DataPort;
import dev.troupe.port.RunKey;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import jdk.net.ExtendedSocketOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of a node to nodes of other machines, one for each line, which are made again after a failure. Of two
 * nodes the one with the lower index calls; for copies of snapshots, the sender calls. A call for a line that is not wanted
 * here yet waits for a while.
 *
 * <p>Thread rule: any thread; calls and answers have their own virtual threads.
 */
public final class Connections implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Connections.class);
    /** The longest wait for a connection, for each answer, and for the other side's close. */
    static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final long FIRST_PAUSE_NANOS = 20_000_000;
    private static final long LONGEST_PAUSE_NANOS = 500_000_000;
    /** The idle time after which the kernel probes the other machine, and the interval of its probes. */
    private static final int KEEP_ALIVE_IDLE_SECONDS = 5;
    private static final int KEEP_ALIVE_INTERVAL_SECONDS = 2;
    private static final int KEEP_ALIVE_QUESTIONS = 5;

    /** The most calls that wait for their lines. */
    private static final int MOST_WAITING = 4096;

    private final int self;
    private final int addresses;
    private final NodeMap nodes;
    private final DataPort port;
    private final Optional<Security> security;
    private final Map<LineName, Wanted> wanted = new ConcurrentHashMap<>();
    /** The calls for lines that are not wanted yet; guarded by this map. */
    private final Map<LineName, Waiting> waiting = new HashMap<>();
    /** The receivers of copies, by the number of the line. */
    private final Map<Long, End> copies = new ConcurrentHashMap<>();
    private volatile boolean isClosed;

    /** The owner of a line in this process. Called on any thread, and must not block. */
    public interface End {
        /** Hands over a new connection, which replaces any earlier one; the owner closes it. */
        void onReady(Ready ready);

        /** Reports that the other end has the line in a later epoch. */
        void onOvertaken(int epoch);
    }

    /** A connection after the exchange of hellos. */
    public record Ready(int node, Wire wire) {
        /** Closes a connection that no end takes. */
        public void close() {
            Connections.close(wire);
        }
    }

    /** A line wanted by its owner; {@code once} distinguishes repeated requests. */
    private record Wanted(int since, End end, Object once) {
    }

    /** A call that waits until its line is wanted. */
    private record Waiting(WireHello hello, Wire wire, long sinceNanos) {
        boolean isOver() {
            return System.nanoTime() - sinceNanos > PATIENCE.toNanos();
        }
    }

    /**
     * Creates the connections of a node, and begins to answer calls.
     *
     * @param nodes this node, and the addresses of all; the places of ranks do not matter
     * @param port the data port of this node, closed with the connections
     * @param security TLS; empty for plain connections
     */
    public Connections(NodeMap nodes, DataPort port, Optional<Security> security) {
        this.nodes = nodes;
        this.self = nodes.self();
        this.addresses = WireHello.addresses(nodes);
        this.port = port;
        this.security = security;
        port.answer(DataPort.Use.TENSORS, this::answer);
    }

    /**
     * Creates plain connections, on a data port of their own.
     *
     * @throws TransportException if the port cannot be opened
     */
    public static Connections open(NodeMap nodes) {
        Endpoint own = nodes.endpoints().get(nodes.self());
        try {
            return new Connections(nodes, DataPort.open(new InetSocketAddress(own.host(), own.port()), RunKey.open()),
                    Optional.empty());
        } catch (IOException refused) {
            throw new TransportException("the transport cannot listen on " + own + " over TCP (" + refused.getMessage()
                    + "); see that the address is of this machine and its port is free", refused);
        }
    }

    /**
     * Requests a connection for a line, which replaces any earlier one.
     *
     * @param since the epoch of the request, the same at both ends; calls of an earlier epoch are refused
     */
    public void want(LineName line, int since, End end) {
        Wanted now = new Wanted(since, end, new Object());
        wanted.put(line, now);
        if (calls(line)) {
            Thread.ofVirtual().name("call-of-" + line.node()).start(() -> call(line, now));
        } else {
            answerWaiting(line);
        }
    }

    private boolean calls(LineName line) {
        return switch (line.purpose()) {
            case TENSORS, GROUP -> self < line.node();
            case COPIES -> true;
        };
    }

    /** Withdraws the request of an end for a line. */
    public void forget(LineName line, End end) {
        wanted.computeIfPresent(line, (_, what) -> what.end() == end ? null : what);
    }

    /** Sets the receiver of copies of snapshots that nodes send to a number. */
    public void takeCopies(long number, End end) {
        copies.put(number, end);
    }

    private boolean isWanted(LineName line, Wanted what) {
        return !isClosed && what.equals(wanted.get(line));
    }

    private void call(LineName line, Wanted what) {
        long pause = FIRST_PAUSE_NANOS;
        while (isWanted(line, what)) {
            try {
                offer(line.node(), what.end(), dial(line, what));
                return;
            } catch (IOException | RuntimeException failure) {
                LOG.debug("node {} does not answer for {}", line.node(), line, failure);
                LockSupport.parkNanos(pause);
                pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
            }
        }
    }

    private Wire dial(LineName line, Wanted what) throws IOException {
        Endpoint endpoint = nodes.endpoints().get(line.node());
        SocketChannel socket = port.call(new InetSocketAddress(endpoint.host(), endpoint.port()),
                DataPort.Use.TENSORS, PATIENCE);
        try {
            Wire wire = wire(socket, true);
            WireHello hello = WireHello.of(addresses, self, line, what.since());
            hello.write(wire);
            WireHello answer = WireHello.read(wire, PATIENCE);
            if (answer.since() > what.since()) {
                what.end().onOvertaken(answer.since());
            }
            requireEqual(hello.answered(), answer);
            return wire;
        } catch (IOException | RuntimeException failure) {
            socket.close();
            throw failure;
        }
    }

    private void answer(SocketChannel socket) throws IOException {
        Wire wire = wire(socket, false);
        WireHello theirs = WireHello.read(wire, PATIENCE);
        LineName line = theirs.line();
        requireEqual(WireHello.of(addresses, self, line, theirs.since()).answered(), theirs);
        if (isClosed || calls(line) && line.purpose() != LineName.Purpose.COPIES) {
            throw new IOException("node " + line.node() + " is called for " + line + ", and does not call");
        }
        End end = copies.get(line.number());
        if (line.purpose() != LineName.Purpose.COPIES) {
            await(line, new Waiting(theirs, wire, System.nanoTime()));
        } else if (end == null) {
            throw new IOException("no copies are taken under the number " + line.number());
        } else {
            theirs.answered().write(wire);
            offer(line.node(), end, wire);
        }
    }

    private void await(LineName line, Waiting call) throws IOException {
        synchronized (waiting) {
            waiting.values().removeIf(before -> {
                if (before.isOver()) {
                    close(before.wire());
                }
                return before.isOver();
            });
            if (waiting.size() >= MOST_WAITING) {
                throw new IOException(MOST_WAITING + " calls wait already for lines that are not wanted");
            }
            Waiting before = waiting.put(line, call);
            if (before != null) {
                close(before.wire());
            }
        }
        answerWaiting(line);
    }

    private void answerWaiting(LineName line) {
        Wanted what = wanted.get(line);
        if (what == null) {
            return;
        }
        Waiting call;
        synchronized (waiting) {
            call = waiting.get(line);
            if (call == null) {
                return;
            }
            if (call.isOver()) { // its caller has given it up, and calls again
                waiting.remove(line);
                close(call.wire());
                return;
            }
            if (call.hello().since() <= what.since()) {
                waiting.remove(line);
            }
        }
        if (call.hello().since() > what.since()) {
            what.end().onOvertaken(call.hello().since());
        } else {
            Thread.ofVirtual().name("answer-to-" + line.node()).start(() -> answer(call, what));
        }
    }

    private void answer(Waiting call, Wanted what) {
        try {
            call.hello().answered().of(what.since()).write(call.wire());
            if (call.hello().since() == what.since()) {
                offer(call.hello().from(), what.end(), call.wire());
            } else {
                close(call.wire());
            }
        } catch (IOException failure) {
            LOG.debug("node {} has not waited for its answer", call.hello().from(), failure);
            close(call.wire());
        }
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

    private void offer(int node, End end, Wire wire) {
        if (isClosed) {
            close(wire);
        } else {
            end.onReady(new Ready(node, wire));
        }
    }

    static void close(Wire wire) {
        try {
            wire.close();
        } catch (IOException failure) {
            LOG.debug("a connection could not be closed", failure);
        }
    }

    /** Ends all calls, waiting ones too, and closes the port; established connections remain open. */
    @Override
    public void close() {
        isClosed = true;
        synchronized (waiting) {
            waiting.values().forEach(call -> close(call.wire()));
            waiting.clear();
        }
        port.close();
    }
}
