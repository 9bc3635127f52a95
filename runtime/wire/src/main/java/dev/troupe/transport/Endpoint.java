package dev.troupe.transport;

import java.util.Objects;

/**
 * The address at which a node receives from other machines.
 *
 * @param host name or address of its machine; nodes with the same one share that machine's media driver
 * @param port port of this node alone, for TCP, and for UDP if the network is that
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
