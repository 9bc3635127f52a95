package dev.troupe.transport;

/** The protocol of tensors between machines, the value of {@code transport.network}. */
public enum Network {
    /**
     * A TCP connection between each two nodes. The kernel wakes their threads and adapts to the path's delay and bandwidth.
     */
    TCP,
    /** Aeron's streams over UDP, which resend lost packets. */
    UDP
}
