package dev.troupe.transport.tcp;

import dev.troupe.transport.NodeMap;
import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The first message of each side of a connection; all numbers big-endian.
 *
 * @param addresses a hash of all nodes' addresses, so that clusters do not mix
 * @param to the node that the sender expects at the other end
 * @param purpose the code of the line's use
 * @param since the epoch of the request for the line; another epoch means an obsolete end, or one that is ahead
 */
record WireHello(int addresses, int from, int to, int purpose, long number, int since) {
    /** "troupe" with the version of the frames. */
    private static final long MAGIC = 0x74726f757065_0003L;
    static final int BYTES = 2 * Long.BYTES + 5 * Integer.BYTES;
    private static final long LOOK_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    static int addresses(NodeMap nodes) {
        return nodes.endpoints().toString().hashCode();
    }

    /** Returns the hello of an end of a line, in an epoch. */
    static WireHello of(int addresses, int self, LineName line, int since) {
        return new WireHello(addresses, self, line.node(), line.purpose().code(), line.number(), since);
    }

    /** Returns the hello with which the other side must answer this one. */
    WireHello answered() {
        return new WireHello(addresses, to, from, purpose, number, since);
    }

    WireHello of(int epoch) {
        return new WireHello(addresses, from, to, purpose, number, epoch);
    }

    /**
     * Returns the name of the sender's line in this process.
     *
     * @throws ProtocolException if the purpose is unknown
     */
    LineName line() throws ProtocolException {
        for (LineName.Purpose each : LineName.Purpose.values()) {
            if (each.code() == purpose) {
                return new LineName(from, each, number);
            }
        }
        throw new ProtocolException("a hello names the purpose " + purpose + ", which there is not");
    }

    void write(Wire wire) throws IOException {
        ByteBuffer message = ByteBuffer.allocate(BYTES).putLong(MAGIC).putInt(addresses).putInt(from).putInt(to)
                .putInt(purpose).putLong(number).putInt(since).flip();
        wire.write(new ByteBuffer[]{message});
        if (message.hasRemaining() || !wire.flush()) {
            throw new IOException("a new connection takes no " + BYTES + " bytes");
        }
    }

    /**
     * Waits for the other side's hello, on a non-blocking wire.
     *
     * @throws IOException if other bytes arrive, or none in time
     */
    static WireHello read(Wire wire, Duration patience) throws IOException {
        ByteBuffer message = ByteBuffer.allocate(BYTES);
        long began = System.nanoTime();
        while (message.hasRemaining()) {
            int length = wire.read(message);
            if (length < 0) {
                throw new EOFException("the other side has closed the connection before its hello");
            }
            if (length == 0) {
                if (System.nanoTime() - began > patience.toNanos()) {
                    throw new SocketTimeoutException("the other side sent no hello within " + patience);
                }
                LockSupport.parkNanos(LOOK_AGAIN_NANOS);
            }
        }
        if (message.flip().getLong() != MAGIC) {
            throw new ProtocolException("its first bytes are no hello of a node of this version");
        }
        return new WireHello(message.getInt(), message.getInt(), message.getInt(), message.getInt(), message.getLong(),
                message.getInt());
    }
}
