package dev.troupe.liveness;

import java.io.IOException;
import java.net.Socket;

/**
 * What a liveness connection's bytes go through on either side: the connection itself, or TLS over it. Any thread; may
 * wait as long as the connection's timeout lets a read wait.
 */
public interface Sockets {
    /** Nothing but the connection. */
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
     * The side that called; the other end has shown who it is when this returns.
     *
     * @throws IOException
     *             where it is nobody we talk to; the connection is then still the caller's to close
     */
    Socket dialed(Socket connection) throws IOException;

    /**
     * The side that was called.
     *
     * @throws IOException
     *             as above
     */
    Socket accepted(Socket connection) throws IOException;
}
