package dev.troupe.run.cluster.liveness;

import java.io.IOException;
import java.net.Socket;

/**
 * The layer under a liveness connection on either side: the plain connection, or TLS over it. Thread rule: any thread; a
 * call may wait for the connection's read timeout.
 */
public interface Sockets {
    /** The plain connection. */
    Sockets PLAIN = new Sockets() {
        @Override
        public Socket dialed(Socket connection) {
            return connection;
        }

        @Override
        public Socket accepted(Socket connection) {
            return connection;
        }
    };

    /**
     * Wraps the side that called; the other end is authenticated when this returns.
     *
     * @throws IOException if the other end is not accepted; the caller must still close the connection
     */
    Socket dialed(Socket connection) throws IOException;

    /**
     * Wraps the side that was called.
     *
     * @throws IOException as above
     */
    Socket accepted(Socket connection) throws IOException;
}
