package dev.troupe.transport.tcp;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** The bytes of one connection. Calls never block. Thread rule: one thread at a time. */
interface Wire extends Closeable {
    /** Reads arrived bytes into a buffer with space; returns their number, 0 if none have arrived, -1 at the end. */
    int read(ByteBuffer into) throws IOException;

    /** Takes bytes from the buffers, in order, as far as it has space. */
    void write(ByteBuffer[] from) throws IOException;

    /** Flushes the taken bytes; returns whether the kernel has accepted all. */
    boolean flush() throws IOException;

    SocketChannel socket();
}
