package dev.troupe.transport.tcp;

import java.io.IOException;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSession;

/** TLS for connections between nodes. Any thread. */
public interface Security {
    /**
     * Returns an engine for one connection, which shows this node's certificate and asks for the other side's.
     *
     * @param isCaller whether this node has called the other
     * @throws IOException if a certificate cannot be read
     */
    SSLEngine engine(boolean isCaller) throws IOException;

    /**
     * Checks the other side of a session after its handshake.
     *
     * @throws IOException if its certificate is not of a node of this cluster
     */
    void require(SSLSession session) throws IOException;
}
