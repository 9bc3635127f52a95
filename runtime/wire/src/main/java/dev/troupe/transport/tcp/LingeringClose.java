package dev.troupe.transport.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * The end of a connection that lets its last bytes arrive. If the socket were closed at once, the kernel would answer unread
 * or later bytes with a reset, and discard its unsent bytes. So the connection is closed for writing first, and fully once
 * the other side has closed it too.
 *
 * <p>Thread rule: begun on any thread; a virtual thread does the rest.
 */
final class LingeringClose {
    private static final Duration LOOK_AGAIN = Duration.ofMillis(10);
    private static final int DISCARDED_AT_ONCE = 16 << 10;

    private LingeringClose() {
    }

    /** Begins to close a non-blocking connection that no selector watches. */
    static void begin(Wire wire) {
        Thread.ofVirtual().name("lingering-close").start(() -> {
            try {
                wire.socket().shutdownOutput();
                awaitEnd(wire.socket());
            } catch (IOException _) {
                // The other side has broken the connection.
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
