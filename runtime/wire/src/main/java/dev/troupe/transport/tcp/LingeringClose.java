package dev.troupe.transport.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * The end of a connection, of which the other side may lack the last bytes. If the socket were closed at once, the kernel
 * would answer bytes that arrive later, or that nobody has read, with a reset, and discard the bytes that it has not sent.
 * So the connection is closed for writing, and closed for reading once the other side has closed it too.
 *
 * <p>Thread rule: begun on any thread; a virtual thread of its own does the rest.
 */
final class LingeringClose {
    private static final Duration LOOK_AGAIN = Duration.ofMillis(10);
    private static final int DISCARDED_AT_ONCE = 16 << 10;

    private LingeringClose() {
    }

    /** Begins to close a connection that does not wait and that no selector watches any more. */
    static void begin(Wire wire) {
        Thread.ofVirtual().name("lingering-close").start(() -> {
            try {
                wire.socket().shutdownOutput();
                awaitEnd(wire.socket());
            } catch (IOException _) {
                // The other side has broken it off.
            } finally {
                Connections.close(wire);
            }
        });
    }

    private static void awaitEnd(SocketChannel socket) throws IOException {
        long deadline = System.nanoTime() + Connections.PATIENCE.toNanos();
        ByteBuffer discarded = ByteBuffer.allocate(DISCARDED_AT_ONCE);
        int length = 0;
        while (length >= 0 && System.nanoTime() - deadline < 0) {
            length = socket.read(discarded.clear());
            if (length == 0) {
                LockSupport.parkNanos(LOOK_AGAIN.toNanos());
            }
        }
    }
}
