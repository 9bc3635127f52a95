package dev.troupe.port;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The data port of a node, over TCP. A caller's first byte names the use of the call, and a proof that it has the run's key
 * follows; the rest, TLS included, belongs to that use.
 *
 * <p>Thread rule: any thread. Each call is answered on a virtual thread of its own.
 */
public final class DataPort implements AutoCloseable {
    /** The uses of the port. */
    public enum Use {
        /** A connection by which processes notice each other's end. */
        LIVENESS('l'),
        /** A connection that carries tensors. */
        TENSORS('t'),
        /** The question whether caller and node have the same key; the answer is a byte. */
        KEY('k');

        private final int code;

        Use(int code) {
            this.code = code;
        }
    }

    /** Answers the calls of one use. */
    @FunctionalInterface
    public interface Answer {
        /**
         * Answers a call, and owns its connection from then on. It returns when the caller is known, and hands the rest to
         * another thread: until then the caller is a stranger, of whom there may be few.
         *
         * @throws IOException if the caller is refused; the connection is closed then
         */
        void take(SocketChannel connection) throws IOException;
    }

    private static final Logger LOG = LoggerFactory.getLogger(DataPort.class);
    private static final int YES = 'y';
    private static final int NO = 'n';
    /** The longest wait for a caller's first byte, and of a caller for a use that has not begun yet. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    /** The pause after a call that could not be taken: no file is left to be opened, most likely. */
    private static final Duration AGAIN = Duration.ofSeconds(2);
    /** The most callers of whom nothing is known yet; a cluster has fewer nodes that start at once. */
    private static final int MOST_STRANGERS = 256;

    private final ServerSocketChannel port;
    private final RunKey key;
    private final Semaphore strangers = new Semaphore(MOST_STRANGERS);
    private final Map<Use, CompletableFuture<Answer>> answers = new EnumMap<>(Use.class);

    private DataPort(ServerSocketChannel port, RunKey key) {
        this.port = port;
        this.key = key;
        for (Use use : Use.values()) {
            answers.put(use, new CompletableFuture<>());
        }
    }

    /**
     * Listens. Callers of a use wait some seconds for its {@link #answer}.
     *
     * @param key of the run: callers must have it too
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
     * @param patience longest wait for the connection
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
     * Asks the port of another node whether it has the same key.
     *
     * @throws IOException if nobody answers
     */
    public boolean sharesKey(InetSocketAddress address) throws IOException {
        try (SocketChannel connection = call(address, Use.KEY, PATIENCE)) {
            connection.socket().setSoTimeout(Math.toIntExact(PATIENCE.toMillis()));
            return switch (connection.socket().getInputStream().read()) {
                case YES -> true;
                case NO -> false;
                default -> throw new EOFException("it does not say whether it has the key");
            };
        }
    }

    /** Begins to answer the calls of a use; called once for each. */
    public void answer(Use use, Answer answer) {
        answers.get(use).complete(answer);
    }

    private void listen() {
        while (port.isOpen()) {
            try {
                SocketChannel connection = port.accept();
                if (strangers.tryAcquire()) {
                    Thread.ofVirtual().name("data-port-call").start(() -> take(connection));
                } else {
                    connection.close();
                }
            } catch (IOException failure) {
                if (port.isOpen()) {
                    LOG.warn("a call could not be taken", failure);
                    LockSupport.parkNanos(AGAIN.toNanos());
                }
            }
        }
    }

    private void take(SocketChannel connection) {
        try {
            Use use = use(connection.socket());
            boolean isOfRun = isOfRun(connection.socket(), use);
            if (use == Use.KEY) {
                connection.socket().getOutputStream().write(isOfRun ? YES : NO);
                connection.close();
                return;
            }
            if (!isOfRun) {
                throw new IOException("it has not the key of this run");
            }
            answers.get(use).get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS).take(connection);
        } catch (IOException | TimeoutException | ExecutionException | RuntimeException refused) {
            LOG.debug("the caller of {} is no node of this cluster", connection, refused);
            close(connection);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            close(connection);
        } finally {
            strangers.release();
        }
    }

    private static Use use(Socket caller) throws IOException {
        caller.setSoTimeout(Math.toIntExact(PATIENCE.toMillis()));
        int code = caller.getInputStream().read();
        for (Use use : Use.values()) {
            if (use.code == code) {
                return use;
            }
        }
        throw code < 0 ? new EOFException() : new IOException("no use has the code " + code);
    }

    private boolean isOfRun(Socket caller, Use use) throws IOException {
        byte[] proof = caller.getInputStream().readNBytes(RunKey.PROOF_BYTES);
        return MessageDigest.isEqual(proof, proof(use));
    }

    /** The same for every port, since a call may come through another. */
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

    /** Refuses all calls from now on; connections that are open remain. */
    @Override
    public void close() {
        try {
            port.close();
        } catch (IOException failure) {
            LOG.warn("the data port could not be closed", failure);
        }
    }
}
