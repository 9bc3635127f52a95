package dev.troupe.transport.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;

/** A connection inside TLS. The handshake blocks, all later calls do not. */
final class TlsWire implements Wire {
    /** The number of records that are encrypted before each system call: 128 KiB, which fits a near cache. */
    private static final int RECORDS = 8;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SocketChannel socket;
    private final SSLEngine engine;
    /** Encrypted bytes that are read and not decrypted. */
    private final ByteBuffer in;
    /** Encrypted bytes that the kernel has not accepted. */
    private final ByteBuffer out;
    /** The rest of a decrypted record for which its reader had no space. */
    private final ByteBuffer rest;

    private TlsWire(SocketChannel socket, SSLEngine engine) {
        this.socket = socket;
        this.engine = engine;
        int record = engine.getSession().getPacketBufferSize();
        this.in = ByteBuffer.allocateDirect(RECORDS * record).limit(0);
        this.out = ByteBuffer.allocateDirect(RECORDS * record).limit(0);
        this.rest = ByteBuffer.allocateDirect(engine.getSession().getApplicationBufferSize()).limit(0);
    }

    /**
     * Performs the handshake on a blocking connection, which stays blocking.
     *
     * @throws IOException if either side does not accept the other, or does not answer in time
     */
    static TlsWire shake(SocketChannel socket, Security security, boolean isCaller) throws IOException {
        TlsWire wire = new TlsWire(socket, security.engine(isCaller));
        wire.engine.beginHandshake();
        wire.shake();
        security.require(wire.engine.getSession());
        return wire;
    }

    private void shake() throws IOException {
        HandshakeStatus status = engine.getHandshakeStatus();
        while (status != HandshakeStatus.NOT_HANDSHAKING && status != HandshakeStatus.FINISHED) {
            status = switch (status) {
                case NEED_WRAP -> {
                    HandshakeStatus next = wrap(NOTHING).getHandshakeStatus();
                    while (!flush()) {
                        Thread.onSpinWait(); // a blocking socket takes all at once
                    }
                    yield next;
                }
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> unwrapHandshake();
                case NEED_TASK -> runTasks();
                case NOT_HANDSHAKING, FINISHED -> status;
            };
        }
    }

    private HandshakeStatus unwrapHandshake() throws IOException {
        SSLEngineResult result = engine.unwrap(in, rest.clear());
        rest.flip();
        if (result.getStatus() == SSLEngineResult.Status.BUFFER_UNDERFLOW) {
            in.compact();
            // Read through the socket's stream, since a blocking channel has no read timeout.
            byte[] bytes = new byte[in.remaining()];
            int length = socket.socket().getInputStream().read(bytes);
            if (length < 0) {
                throw new EOFException("the other side has closed the connection in the handshake");
            }
            in.put(bytes, 0, length).flip();
            return engine.getHandshakeStatus();
        }
        requireOpen(result);
        return result.getHandshakeStatus();
    }

    private HandshakeStatus runTasks() {
        Runnable task;
        while ((task = engine.getDelegatedTask()) != null) {
            task.run();
        }
        return engine.getHandshakeStatus();
    }

    /** Encrypts one record and appends it; without space for it, nothing is taken. */
    private SSLEngineResult wrap(ByteBuffer from) throws IOException {
        int start = out.hasRemaining() ? out.position() : 0;
        int end = out.hasRemaining() ? out.limit() : 0;
        out.clear().position(end);
        try {
            SSLEngineResult result = engine.wrap(from, out);
            requireOpen(result);
            return result;
        } finally {
            out.limit(out.position()).position(start);
        }
    }

    private static void requireOpen(SSLEngineResult result) throws SSLException {
        if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
            throw new SSLException("the other side has ended TLS");
        }
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        int before = into.position();
        boolean isEnd = false;
        while (into.hasRemaining()) {
            if (rest.hasRemaining()) {
                int length = Math.min(rest.remaining(), into.remaining());
                into.put(into.position(), rest, rest.position(), length);
                into.position(into.position() + length);
                rest.position(rest.position() + length);
            } else if (!decrypt(into)) {
                in.compact();
                int length = socket.read(in);
                in.flip();
                if (length <= 0) {
                    isEnd = length < 0;
                    break;
                }
            }
        }
        int length = into.position() - before;
        return length == 0 && isEnd ? -1 : length;
    }

    /** Decrypts a record; returns false if no complete one has been read. */
    private boolean decrypt(ByteBuffer into) throws IOException {
        if (!in.hasRemaining()) {
            return false;
        }
        boolean fits = into.remaining() >= rest.capacity();
        SSLEngineResult result;
        if (fits) {
            result = engine.unwrap(in, into);
        } else {
            result = engine.unwrap(in, rest.clear());
            rest.flip();
        }
        requireOpen(result);
        switch (result.getHandshakeStatus()) {
            case NEED_TASK -> runTasks();
            case NEED_WRAP -> wrap(NOTHING); // new keys; they leave with the next flush
            case NEED_UNWRAP, NEED_UNWRAP_AGAIN, NOT_HANDSHAKING, FINISHED -> {
            }
        }
        return result.getStatus() == SSLEngineResult.Status.OK;
    }

    @Override
    public void write(ByteBuffer[] from) throws IOException {
        for (ByteBuffer buffer : from) {
            while (buffer.hasRemaining()) {
                boolean hasRoom = out.capacity() - out.limit() >= engine.getSession().getPacketBufferSize();
                if (!hasRoom && !flush()) {
                    return;
                }
                wrap(buffer);
            }
        }
    }

    @Override
    public boolean flush() throws IOException {
        while (out.hasRemaining()) {
            if (socket.write(out) == 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public SocketChannel socket() {
        return socket;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
