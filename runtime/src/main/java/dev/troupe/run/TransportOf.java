package dev.troupe.run;

import dev.troupe.config.TransportSpec;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.Transport;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.aeron.AeronTransport;

/** Starts the transport that a configuration describes, for ranks that all live in this JVM. */
public final class TransportOf {
    private TransportOf() {
    }

    /**
     * Starts a media driver and the node's transport.
     *
     * @throws dev.troupe.transport.TransportException
     *             where that cannot be: no room for its files, or a directory in use
     */
    public static Transport spec(TransportSpec spec, int rankCount) {
        return AeronTransport.start(NodeMap.single(rankCount),
                new TransportSettings(spec.directory(), spec.termLengthBytes(), spec.timeout()));
    }
}
