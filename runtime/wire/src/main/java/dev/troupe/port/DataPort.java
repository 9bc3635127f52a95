package dev.troupe.port;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.SequencedSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The TCP data port of a node. A caller's first byte names the use of the call, followed by a proof of the run's key. The
 * use defines the rest, TLS included.
 *
 * <p>Thread rule: any thread. Each call is answered on its own virtual thread.
 */
public final class DataPort implements AutoCloseable {
    /** The uses of the port. */
    public enum Use {
        /** A connection that reveals the end of a process. */
        LIVENESS('l'),
        /** A connection that carries tensors. */
        TENSORS('t'),
        /** A check whether caller and node have the same key; the answer is one byte. */
        KEY('k');

        private final int code;

        Use(int code) {
            this.code = code;
        }
    }

    /** The handler of the calls of one use. */
    @FunctionalInterface
    public interface Answer {
        /**
         * Handles a call, and owns its connection. It returns as soon as the caller is known, and leaves further work to
         * another thread, since few unknown callers are allowed at a time.
         *
         * @throws IOException if the caller is refused; the connection is closed then
         */
        void take(SocketChannel connection) throws IOException;
    }

    private static final Logger LOG = LoggerFactory.getLogger(DataPort.class);
    private static final int YES = 'y';
    private static final int NO = 'n';
    /** The longest wait for a caller's first bytes, and of a caller for an {@link #answer}. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    /** The pause after a call that could not be accepted, most likely since the process has no free file descriptor. */
    private static final Duration AGAIN = Duration.ofSeconds(2);
    /** The most unknown callers at a time; more than the nodes of a cluster that start at once. */
    private static final int MOST_STRANGERS = 256;

    private final ServerSocketChannel port;
    private final RunKey key;
    /** The unknown callers, the first to give way at the front; guarded by this set. */
    private final SequencedSet<SocketChannel> strangers = new LinkedHashSet<>();
    private final Map<Use, CompletableFuture<Answer>> answers = new EnumMap<>(Use.class);

    private DataPort(ServerSocketChannel port, RunKey key) {
        this.port = port;
        this.key = key;
        for (Use use : Use.values()) {
            answers.put(use, new CompletableFuture<>());
        }
    }

    /**
     * Opens the port. Callers of a use wait some seconds for its {@link #answer}.
     *
     * @param key the run's key, which callers must prove to have
     * @throws IOException if the address is not of this machine, or the port is taken
     */
    public static DataPort open(InetSocketAddress address, RunKey key) throws IOException {
        if (address.isUnresolved()) {
            throw new UnknownHostException(address.getHostString() + " is no host that this machine can find");
        }
        ServerSocketChannel port = ServerSocketChannel.open();
        try {
            port.bind(address);
        } catch (IOException | RuntimeException refused) {
            port.close();
            throw refused;
        }
        DataPort opened = new DataPort(port, key);
        Thread.ofVirtual().name("data-port").start(opened::listen);
        return opened;
    }

    /**
     * Calls the port of another node of the run.
     *
     * @param patience the longest wait for the connection
     * @throws java.net.ConnectException if its machine refuses the connection
     */
    public SocketChannel call(InetSocketAddress address, Use use, Duration patience) throws IOException {
        SocketChannel connection = SocketChannel.open();
        try {
            connection.socket().connect(address, Math.toIntExact(patience.toMillis()));
            byte[] proof = proof(use);
            connection.socket().getOutputStream()
                    .write(ByteBuffer.allocate(1 + proof.length).put((byte) use.code).put(proof).array());
            return connection;
        } catch (IOException | RuntimeException failure) {
            connection.close();
            throw failure;
        }
    }

    /**
     * Returns whether another node has the same key.
     *
     * @throws IOException if the node does not answer
     */
    public boolean sharesKey(InetSocketAddress address) throws IOException {
        try (SocketChannel connection = call(address, Use.KEY, PATIENCE)) {
            connection.socket().setSoTimeout(Math.toIntExact(PATIENCE.toMillis()));
            return switch (connection.socket().getInputStream().read()) {
                case YES -> true;
                case NO -> false;
                default -> throw new EOFException("it gives no answer on its key");
            };
        }
    }

    /** Begins to answer the calls of a use; once for each use. */
    public void answer(Use use, Answer answer) {
        answers.get(use).complete(answer);
    }

    private void listen() {
        while (port.isOpen()) {
            try {
                SocketChannel connection = port.accept();
                admit(connection);
                Thread.ofVirtual().name("data-port-call").start(() -> take(connection));
            } catch (IOException failure) {
                if (port.isOpen()) {
                    LOG.warn("a call could not be taken", failure);
                    LockSupport.parkNanos(AGAIN.toNanos());
                }
            }
        }
    }

    /**
     * Counts an unknown caller. If there are too many the one that has waited longest gives way: a node of the run sends its
     * proof at once, so a port that strangers keep full still answers it.
     */
    private void admit(SocketChannel caller) {
        SocketChannel longest = null;
        synchronized (strangers) {
            strangers.addLast(caller);
            if (strangers.size() > MOST_STRANGERS) {
                longest = strangers.removeFirst();
            }
        }
        if (longest != null) {
            close(longest);
        }
    }

    private void take(SocketChannel connection) {
        try {
            byte[] greeting = greeting(connection.socket());
            Use use = use(greeting[0]);
            boolean isOfRun = MessageDigest.isEqual(Arrays.copyOfRange(greeting, 1, greeting.length), proof(use));
            if (use == Use.KEY) {
                connection.socket().getOutputStream().write(isOfRun ? YES : NO);
                connection.close();
                return;
            }
            if (!isOfRun) {
                throw new IOException("it has not the key of this run");
            }
            synchronized (strangers) {
                if (strangers.contains(connection)) {
                    strangers.addLast(connection); // moves it: it is the last to give way
                }
            }
            answers.get(use).get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS).take(connection);
        } catch (IOException | TimeoutException | ExecutionException | RuntimeException refused) {
            LOG.debug("the caller of {} is no node of this cluster", connection, refused);
            close(connection);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            close(connection);
        } finally {
            synchronized (strangers) {
                strangers.remove(connection);
            }
        }
    }

    /** Reads the use and the proof, all within {@link #PATIENCE}, however few bytes arrive at a time. */
    private static byte[] greeting(Socket caller) throws IOException {
        int patience = Math.toIntExact(PATIENCE.toMillis());
        long began = System.nanoTime();
        byte[] greeting = new byte[1 + RunKey.PROOF_BYTES];
        for (int at = 0; at < greeting.length;) {
            long left = patience - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began); // rounded up
            if (left <= 0) {
                throw new SocketTimeoutException("it has sent " + at + " of its first " + greeting.length + " bytes");
            }
            caller.setSoTimeout(Math.toIntExact(left));
            int length = caller.getInputStream().read(greeting, at, greeting.length - at);
            if (length < 0) {
                throw new EOFException();
            }
            at += length;
        }
        caller.setSoTimeout(patience);
        return greeting;
    }

    private static Use use(byte code) throws IOException {
        for (Use use : Use.values()) {
            if (use.code == code) {
                return use;
            }
        }
        throw new IOException("no use has the code " + code);
    }

    /** Does not depend on the port, since a call may pass through another one. */
    private byte[] proof(Use use) {
        byte[] what = {(byte) use.code};
        return key.proof("data-port", what, what.length);
    }

    private static void close(SocketChannel connection) {
        try {
            connection.close();
        } catch (IOException failure) {
            LOG.debug("a connection could not be closed", failure);
        }
    }

    /** Closes the port to new calls; open connections remain. */
    @Override
    public void close() {
        try {
            port.close();
        } catch (IOException failure) {
            LOG.warn("the data port could not be closed", failure);
        }
    }
}
