package dev.troupe.transport;

import java.util.Objects;

/**
 * The address at which a node receives from other machines.
 *
 * @param host name or address of its machine; nodes with the same host share a media driver
 * @param port port of this node, for {@link Network#TCP} or {@link Network#UDP}
 */
public record Endpoint(String host, int port) {
    public Endpoint {
        Objects.requireNonNull(host, "host");
    }

    /** Returns {@code host:port}, with an IPv6 address in brackets. */
    @Override
    public String toString() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
}
