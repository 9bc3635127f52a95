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
 * Makes the connections of a node to the nodes of other machines, one for each line, and makes them again when they are
 * asked for again. Of two nodes the first one of the file calls; copies of snapshots are called for by their sender. A call
 * for a line that is not wanted yet waits for a while.
 *
 * <p>Thread rule: any thread; calls and answers have virtual threads of their own.
 */
public final class Connections implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Connections.class);
    /** The longest wait for a connection, for each answer, and for the other side's end. */
    static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final long FIRST_PAUSE_NANOS = 20_000_000;
    private static final long LONGEST_PAUSE_NANOS = 500_000_000;
    /** Seconds without a byte after which the kernel asks whether the other machine is there, and between its questions. */
    private static final int KEEP_ALIVE_IDLE_SECONDS = 5;
    private static final int KEEP_ALIVE_INTERVAL_SECONDS = 2;
    private static final int KEEP_ALIVE_QUESTIONS = 5;

    /** The most calls that wait for their line to be wanted here. */
    private static final int MOST_WAITING = 4096;

    private final int self;
    private final int addresses;
    private final NodeMap nodes;
    private final DataPort port;
    private final Optional<Security> security;
    private final Map<LineName, Wanted> wanted = new ConcurrentHashMap<>();
    /** Calls for lines that are not wanted yet; guarded by itself. */
    private final Map<LineName, Waiting> waiting = new HashMap<>();
    /** Takes the calls of any node, by the number of its line. */
    private final Map<Long, End> copies = new ConcurrentHashMap<>();
    private volatile boolean isClosed;

    /** The end of a line in this process. Called on any thread, and must not wait. */
    public interface End {
        /** A connection is made, in place of any before; the end closes it. */
        void onReady(Ready ready);

        /** The other end has the line in a later epoch than this one. */
        void onOvertaken(int epoch);
    }

    /** A connection that is made: its hellos are exchanged. */
    public record Ready(int node, Wire wire) {
        /** Closes the connection, if no end takes it. */
        public void close() {
            Connections.close(wire);
        }
    }

    /** A connection that an end wants; an object for each time that it is made. */
    private record Wanted(int since, End end, Object once) {
    }

    /** A call that waits for its line to be wanted. */
    private record Waiting(WireHello hello, Wire wire, long sinceNanos) {
        boolean isOver() {
            return System.nanoTime() - sinceNanos > PATIENCE.toNanos();
        }
    }

    /**
     * Makes the connections of a node; calls of others are answered from then on.
     *
     * @param nodes this node and the addresses; the nodes of ranks do not matter
     * @param port the data port of this node, which is closed with the connections
     * @param security TLS, or empty for connections in the clear
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
     * Makes the connections of a node in the clear, on a data port of their own.
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

    public boolean isEncrypted() {
        return security.isPresent();
    }

    /**
     * Wants a connection for a line, in place of any before.
     *
     * @param since the epoch since which it is wanted, the same at both ends: calls of an earlier one are refused
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

    /** Wants no connection for a line any more, if an end had wanted it. */
    public void forget(LineName line, End end) {
        wanted.computeIfPresent(line, (_, what) -> what.end() == end ? null : what);
    }

    /** Takes the copies of snapshots that any node sends to a number. */
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

    /** Ends all calls, those that wait too, and closes the port; connections that are made remain. */
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
