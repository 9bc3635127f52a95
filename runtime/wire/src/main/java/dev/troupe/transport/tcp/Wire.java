package dev.troupe.transport.tcp;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** The bytes of one connection. Calls never wait. Thread rule: one thread, or one after the other. */
interface Wire extends Closeable {
    /** Reads arrived bytes into a buffer with room; returns their number, 0 if there are none, -1 at the end. */
    int read(ByteBuffer into) throws IOException;

    /** Takes bytes from the buffers, one after the other, until it can take no more. */
    void write(ByteBuffer[] from) throws IOException;

    /** Passes on the bytes it has taken; returns whether the kernel has all of them. */
    boolean flush() throws IOException;

    SocketChannel socket();
}
