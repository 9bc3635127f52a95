package dev.troupe.liveness;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;

/**
 * One connection to the process of another node, over which nothing goes but two hellos and a goodbye.
 *
 * <p>Thread rule: {@link #awaitGoodbye} on one thread; the rest on any.
 */
final class LivenessConnection {
    /** The byte that ends it in order. */
    static final int GOODBYE = 'b';

    private final Socket socket;
    private final Hello hello;

    private LivenessConnection(Socket socket, Hello hello) {
        this.socket = socket;
        this.hello = hello;
    }

    /**
     * Calls a node.
     *
     * @param patience
     *            for the connection, and for each answer
     * @throws java.net.ConnectException
     *             where its machine says that nobody listens there
     * @throws IOException
     *             where nobody answers, or somebody who is no node
     */
    static LivenessConnection dial(InetSocketAddress address, Hello self, Sockets sockets, Duration patience)
            throws IOException {
        Socket connection = new Socket();
        try {
            connection.connect(address, Math.toIntExact(patience.toMillis()));
            connection.setSoTimeout(Math.toIntExact(patience.toMillis()));
            return greet(sockets.dialed(connection), self);
        } catch (IOException failure) {
            connection.close();
            throw failure;
        }
    }

    /**
     * Answers whoever called.
     *
     * @throws IOException
     *             where it is no node; the connection is closed then
     */
    static LivenessConnection accept(Socket connection, Hello self, Sockets sockets, Duration patience)
            throws IOException {
        try {
            connection.setSoTimeout(Math.toIntExact(patience.toMillis()));
            return greet(sockets.accepted(connection), self);
        } catch (IOException failure) {
            connection.close();
            throw failure;
        }
    }

    private static LivenessConnection greet(Socket socket, Hello self) throws IOException {
        self.write(socket.getOutputStream());
        Hello hello = Hello.read(socket.getInputStream());
        socket.setKeepAlive(true);
        socket.setSoTimeout(0); // what follows comes when the other process ends
        return new LivenessConnection(socket, hello);
    }

    /** What the other side said of itself. */
    Hello hello() {
        return hello;
    }

    /** Waits until the connection ends, on either side; whether the other side said goodbye. */
    boolean awaitGoodbye() {
        try (socket) {
            return socket.getInputStream().read() == GOODBYE;
        } catch (IOException _) {
            return false; // reset, closed here, or broken off inside TLS: no goodbye in any case
        }
    }

    /** Ends the connection in order. */
    void sayGoodbye() {
        try (socket) {
            socket.getOutputStream().write(GOODBYE);
            socket.getOutputStream().flush();
        } catch (IOException _) {
            // The other side is gone already, or finds out by itself.
        }
    }

    /** Ends the connection without a word: it turned out to lead to somebody else. */
    void hangUp() throws IOException {
        socket.close();
    }
}
