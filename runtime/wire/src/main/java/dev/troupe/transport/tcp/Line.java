package dev.troupe.transport.tcp;

import dev.troupe.wire.Rest;
import java.io.EOFException;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The end of a line: its connection, while there is one, which is made again where it breaks. Both sides then tell each
 * other how many frames they have written and read, so that lost ones are noticed.
 *
 * <p>Thread rule: one thread, whose {@link Rest} a new connection wakes.
 */
public final class Line implements AutoCloseable, Connections.End {
    private static final Logger LOG = LoggerFactory.getLogger(Line.class);
    private static final int NEVER = -1;

    private final Connections connections;
    private final LineName name;
    private final int since;
    private final Rest rest;
    private final AtomicReference<Connections.Ready> made = new AtomicReference<>();
    private volatile boolean isClosed;
    private volatile int overtakenBy = NEVER;
    /** Null while there is no connection. */
    private FrameStream stream;
    private long written;
    private long read;

    /**
     * Wants the connection.
     *
     * @param since the epoch since which it is wanted, the same at both ends
     * @param rest of the thread that this belongs to
     */
    public Line(Connections connections, LineName name, int since, Rest rest) {
        this.connections = connections;
        this.name = name;
        this.since = since;
        this.rest = rest;
        connections.want(name, since, this);
    }

    @Override
    public void onReady(Connections.Ready ready) {
        replaceMade(ready);
        if (isClosed) {
            replaceMade(null);
        }
        rest.wake();
    }

    private void replaceMade(Connections.Ready ready) {
        Connections.Ready unused = made.getAndSet(ready);
        if (unused != null) {
            unused.close();
        }
    }

    @Override
    public void onOvertaken(int epoch) {
        overtakenBy = epoch;
        rest.wake();
    }

    /** The later epoch in which the other end has the line; empty where it is none. */
    public Optional<Integer> overtakenBy() {
        return overtakenBy == NEVER ? Optional.empty() : Optional.of(overtakenBy);
    }

    /** Takes a connection that was made since the last call, in place of any before; returns whether there was one. */
    public boolean renew() {
        if (made.getPlain() == null) {
            return false;
        }
        Connections.Ready ready = made.getAndSet(null);
        if (ready == null) {
            return false;
        }
        drop();
        try {
            stream = new FrameStream(ready, rest, written, read);
        } catch (IOException failure) {
            ready.close();
            broken(failure);
        }
        return true;
    }

    /** The connection, until it is {@link #broken} or {@linkplain #renew renewed}; null while there is none. */
    public FrameStream stream() {
        return stream;
    }

    /** Gives up the connection after a failure, and wants another. */
    public void broken(IOException failure) {
        // A process that ends closes its connections; of that the others are told elsewhere.
        LOG.atLevel(failure instanceof EOFException ? Level.DEBUG : Level.WARN)
                .log("the connection to node {} broke and is made again: {}", name.node(), failure.toString());
        drop();
        connections.want(name, since, this);
    }

    private void drop() {
        if (stream != null) {
            written = stream.written();
            read = stream.read();
            stream.close();
            stream = null;
        }
    }

    /** Ends the connection, whose last frames reach the other end, and wants none any more. Closing twice has no effect. */
    @Override
    public void close() {
        isClosed = true;
        connections.forget(name, this);
        replaceMade(null);
        if (stream != null) {
            stream.end();
            stream = null;
        }
    }
}
