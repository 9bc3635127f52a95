package dev.troupe.bench.hop;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * A pair of plain TCP sockets, the stand-in for Gloo. One thread on each side writes or reads each message in blocking
 * calls, with memory of its own and without checks. A message has 8 bytes before its payload, all 0 if a byte answers it.
 * The answered messages are the last of a burst or, with a window, each one, so that no more are unanswered than the
 * transport has credits.
 */
final class PlainSocket implements Burst {
    private final SocketChannel socket;
    private final ByteBuffer[] buffers = new ByteBuffer[HopEnd.CREDITS];
    private final ByteBuffer header = ByteBuffer.allocateDirect(Long.BYTES);
    private final boolean hasWindow;

    private PlainSocket(SocketChannel socket, int bytes, boolean hasWindow) throws IOException {
        this.socket = socket;
        this.hasWindow = hasWindow;
        socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
        for (int credit = 0; credit < buffers.length; credit++) {
            buffers[credit] = ByteBuffer.allocateDirect(bytes);
        }
    }

    /**
     * Connects to the listening process.
     *
     * @param hasWindow whether each message is answered
     */
    static PlainSocket call(InetSocketAddress address, int bytes, boolean hasWindow) throws IOException {
        return new PlainSocket(SocketChannel.open(address), bytes, hasWindow);
    }

    /** Answers bursts on a thread of its own until the caller closes its socket. */
    static void answer(InetSocketAddress address, int bytes) throws IOException {
        ServerSocketChannel port = ServerSocketChannel.open().bind(address);
        Thread.ofPlatform().daemon().start(() -> {
            try (port; PlainSocket here = new PlainSocket(port.accept(), bytes, false)) {
                here.answer();
            } catch (EOFException _) {
                // The caller has measured all.
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        });
    }

    private void answer() throws IOException {
        while (true) {
            for (ByteBuffer buffer : buffers) {
                readFully(header.clear());
                readFully(buffer.clear());
                if (header.getLong(0) == 0) {
                    writeFully(header.clear().limit(1));
                }
            }
        }
    }

    private void readFully(ByteBuffer into) throws IOException {
        while (into.hasRemaining()) {
            if (socket.read(into) < 0) {
                throw new EOFException();
            }
        }
    }

    private void writeFully(ByteBuffer... from) throws IOException {
        while (from[from.length - 1].hasRemaining()) {
            socket.write(from);
        }
    }

    @Override
    public double seconds(int messages) {
        try {
            long start = System.nanoTime();
            int unanswered = 0;
            for (int message = 1; message <= messages; message++) {
                if (unanswered == buffers.length) {
                    readFully(header.clear().limit(1));
                    unanswered--;
                }
                ByteBuffer buffer = buffers[message % buffers.length].clear();
                boolean isAnswered = hasWindow || message == messages;
                header.clear().putLong(0, isAnswered ? 0 : 1);
                writeFully(header, buffer);
                unanswered += isAnswered ? 1 : 0;
            }
            readFully(header.clear().limit(unanswered));
            return (System.nanoTime() - start) / 1e9;
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
