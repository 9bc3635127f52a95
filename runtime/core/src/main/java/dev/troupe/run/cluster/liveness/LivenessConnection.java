package dev.troupe.run.cluster.liveness;

import dev.troupe.port.DataPort;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import jdk.net.ExtendedSocketOptions;

/**
 * One connection to the process of another node, which carries two hellos and a goodbye. Thread rule: {@link #awaitGoodbye}
 * on one thread; the rest on any.
 */
final class LivenessConnection {
    /** The byte that ends the connection in order. */
    static final int GOODBYE = 'b';
    /** The time in which the kernel notices that the machine of the other side does not answer. */
    static final Duration UNANSWERED = Duration.ofSeconds(2);

    private final Socket socket;
    private final Hello hello;
    private final AtomicBoolean hasSaidGoodbye = new AtomicBoolean();

    private LivenessConnection(Socket socket, Hello hello) {
        this.socket = socket;
        this.hello = hello;
    }

    /**
     * Calls a node.
     *
     * @param own the data port of the caller's node
     * @param patience longest wait for the connection, and for each answer
     * @throws java.net.ConnectException if its machine refuses the connection
     * @throws IOException if there is no answer, or none from a node
     */
    static LivenessConnection dial(DataPort own, InetSocketAddress address, Hello self, Sockets sockets,
            Duration patience) throws IOException {
        Socket connection = own.call(address, DataPort.Use.LIVENESS, patience).socket();
        try {
            watchOver(connection);
            connection.setSoTimeout(Math.toIntExact(patience.toMillis()));
            return greet(sockets.dialed(connection), self);
        } catch (IOException failure) {
            connection.close();
            throw failure;
        }
    }

    /**
     * Answers a caller.
     *
     * @throws IOException if the caller is no node; the connection is closed then
     */
    static LivenessConnection accept(Socket connection, Hello self, Sockets sockets, Duration patience)
            throws IOException {
        try {
            watchOver(connection);
            connection.setSoTimeout(Math.toIntExact(patience.toMillis()));
            return greet(sockets.accepted(connection), self);
        } catch (IOException failure) {
            connection.close();
            throw failure;
        }
    }

    /**
     * Sets TCP keep-alive to a probe every second; the kernel breaks the connection if a probe has no answer within another
     * second. The other kernel answers even if its process is stopped, starved or collects garbage.
     */
    static void watchOver(Socket connection) throws IOException {
        connection.setKeepAlive(true);
        if (connection.supportedOptions().contains(ExtendedSocketOptions.TCP_KEEPIDLE)) {
            connection.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 1);
            connection.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, 1);
            connection.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, 1);
        }
    }

    private static LivenessConnection greet(Socket socket, Hello self) throws IOException {
        self.write(socket.getOutputStream());
        Hello hello = Hello.read(socket.getInputStream());
        socket.setSoTimeout(0); // the next byte comes when the other process ends
        return new LivenessConnection(socket, hello);
    }

    Hello hello() {
        return hello;
    }

    /** Waits until the connection ends, on either side; returns whether the other side sent a goodbye. */
    boolean awaitGoodbye() {
        try (socket) {
            return socket.getInputStream().read() == GOODBYE;
        } catch (IOException _) {
            return false; // reset, closed here, or broken off inside TLS: no goodbye in any case
        }
    }

    /** Ends the connection in order. Further calls have no effect. */
    void sayGoodbye() {
        if (!hasSaidGoodbye.compareAndSet(false, true)) {
            return;
        }
        try (socket) {
            socket.getOutputStream().write(GOODBYE);
            socket.getOutputStream().flush();
        } catch (IOException _) {
            // The other side has ended already, or notices the end itself.
        }
    }

    /** As {@link #hangUp}, from another thread than the one that waits for the goodbye. */
    void hangUpQuietly() {
        try {
            hangUp();
        } catch (IOException _) {
            // It is closed in any case.
        }
    }

    /** Closes the connection without a goodbye, since it leads to another process. */
    void hangUp() throws IOException {
        socket.close();
    }
}
