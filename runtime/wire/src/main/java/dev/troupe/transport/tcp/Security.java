package dev.troupe.transport.tcp;

import java.io.IOException;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSession;

/** TLS for connections between nodes. Any thread. */
public interface Security {
    /**
     * Returns a TLS engine for one connection, with this node's certificate; it requires the other side's.
     *
     * @param isCaller whether this node made the call
     * @throws IOException if a certificate cannot be read
     */
    SSLEngine engine(boolean isCaller) throws IOException;

    /**
     * Checks the other side of a session after its handshake.
     *
     * @throws IOException if no node of this cluster has its certificate
     */
    void require(SSLSession session) throws IOException;
}
