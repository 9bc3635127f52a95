package dev.troupe.transport.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** The bytes of a connection that have been read and not been taken. Calls never wait. Thread rule: one thread. */
final class Arrived {
    /** Some small frames for each call of the kernel; what is read here of a large payload is copied once more. */
    private static final int BYTES = 32 << 10;

    private final Wire wire;
    private final ByteBuffer in = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.LITTLE_ENDIAN).limit(0);
    private final UnsafeBuffer bytes = new UnsafeBuffer(in.duplicate().clear());
    /** Whether the kernel had fewer bytes than there was room, so that another call would find none. */
    private boolean isDrained;

    Arrived(Wire wire) {
        this.wire = wire;
    }

    /** The kernel may have bytes again. */
    void look() {
        isDrained = false;
    }

    /** Reads until a number of bytes is here; returns whether it is. */
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

    /** Moves bytes into a buffer, which has room; returns their number, 0 if none have arrived. */
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

    /** A number, {@code offset} bytes after the first byte that is here. */
    int getInt(int offset) {
        return in.getInt(in.position() + offset);
    }

    /** Takes the first number. */
    int takeInt() {
        return in.getInt();
    }

    /** Takes the first bytes; returns their place in {@link #bytes}, where they stay until the next read. */
    int take(int length) {
        int at = in.position();
        in.position(at + length);
        return at;
    }

    /** A number at a place that {@link #take} has returned. */
    long getLong(int at) {
        return in.getLong(at);
    }

    /** The memory. */
    DirectBuffer bytes() {
        return bytes;
    }
}
