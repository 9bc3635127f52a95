package dev.troupe.transport;

/** The protocol of tensors between machines: the values of {@code transport.network}. */
public enum Network {
    /** A TCP connection for each two nodes: the kernel wakes their threads, and follows the path's delay and bandwidth. */
    TCP,
    /** Aeron's streams over UDP, which repeat lost packets by themselves. */
    UDP
}
