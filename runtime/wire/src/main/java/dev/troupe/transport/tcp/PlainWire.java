package dev.troupe.transport.tcp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A connection without encryption. */
record PlainWire(SocketChannel socket) implements Wire {
    @Override
    public int read(ByteBuffer into) throws IOException {
        return socket.read(into);
    }

    @Override
    public void write(ByteBuffer[] from) throws IOException {
        socket.write(from);
    }

    @Override
    public boolean flush() {
        return true;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
