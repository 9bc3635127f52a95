package dev.troupe.transport.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** The buffer of bytes read from a connection and not yet taken. Calls never block. Thread rule: one thread. */
final class Arrived {
    /** Holds several small frames per system call; bytes of a large payload that land here are copied once more. */
    private static final int BYTES = 32 << 10;

    private final Wire wire;
    private final ByteBuffer in = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.LITTLE_ENDIAN).limit(0);
    private final UnsafeBuffer bytes = new UnsafeBuffer(in.duplicate().clear());
    /** Whether the last read found fewer bytes than it had space for, so that another read would find none. */
    private boolean isDrained;

    Arrived(Wire wire) {
        this.wire = wire;
    }

    /** Allows another read, since the kernel may have bytes again. */
    void look() {
        isDrained = false;
    }

    /** Reads until {@code wanted} bytes are available; returns whether they are. */
    boolean fill(int wanted) throws IOException {
        while (in.remaining() < wanted) {
            in.compact();
            int length;
            try {
                length = readFromWire(in);
            } finally {
                in.flip();
            }
            if (length == 0) {
                return false;
            }
        }
        return true;
    }

    /** Moves available bytes into a buffer with space; returns their number, 0 if none have arrived. */
    int readInto(ByteBuffer target) throws IOException {
        int length = Math.min(in.remaining(), target.remaining());
        if (length == 0) {
            return readFromWire(target);
        }
        int start = target.position();
        target.put(start, in, in.position(), length).position(start + length);
        in.position(in.position() + length);
        return length;
    }

    private int readFromWire(ByteBuffer buffer) throws IOException {
        if (isDrained) {
            return 0;
        }
        int length = wire.read(buffer);
        if (length < 0) {
            throw new EOFException("the other side has closed the connection");
        }
        isDrained = buffer.hasRemaining();
        return length;
    }

    /** Returns the number at {@code offset} bytes after the first available byte. */
    int getInt(int offset) {
        return in.getInt(in.position() + offset);
    }

    /** Takes the first number. */
    int takeInt() {
        return in.getInt();
    }

    /** Takes the first {@code length} bytes; returns their offset in {@link #bytes}, valid until the next read. */
    int take(int length) {
        int at = in.position();
        in.position(at + length);
        return at;
    }

    /** Returns the number at an offset that {@link #take} has returned. */
    long getLong(int at) {
        return in.getLong(at);
    }

    DirectBuffer bytes() {
        return bytes;
    }
}
