package dev.troupe.snapshot.stream;

import dev.troupe.transport.tcp.Connections;
import dev.troupe.transport.tcp.FrameStream;
import dev.troupe.transport.tcp.WholeFrame;
import dev.troupe.wire.Rest;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections on which processes of other machines send copies to this one, with a receiver for each.
 *
 * <p>Thread rule: the copying thread; new connections arrive on any thread.
 */
final class IncomingConnections implements Connections.End, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(IncomingConnections.class);
    /** The largest payload: 0.05 ms at 3 GB/s. */
    static final int MAX_PAYLOAD = 128 << 10;
    private static final int FRAMES_PER_POLL = 16;

    private final Rest rest;
    private final Supplier<SnapshotReceiver> receivers;
    private final Queue<Connections.Ready> made = new ConcurrentLinkedQueue<>();
    private final List<Arrival> arrivals = new ArrayList<>();
    private final CopyFrame frame = new CopyFrame();
    private volatile boolean isClosed;

    private record Arrival(FrameStream stream, WholeFrame whole, SnapshotReceiver receiver) {
    }

    /** @param receivers creates the receiver of a connection */
    IncomingConnections(Rest rest, Supplier<SnapshotReceiver> receivers) {
        this.rest = rest;
        this.receivers = receivers;
    }

    @Override
    public void onReady(Connections.Ready ready) {
        made.add(ready);
        if (isClosed) {
            discard();
        }
        rest.wake();
    }

    @Override
    public void onOvertaken(int epoch) {
        // Copies have no epoch.
    }

    private void discard() {
        for (Connections.Ready unused = made.poll(); unused != null; unused = made.poll()) {
            unused.close();
        }
    }

    List<SnapshotReceiver> receivers() {
        return arrivals.stream().map(Arrival::receiver).toList();
    }

    /** Receives a few frames from each connection; returns the amount of work. */
    int poll() {
        int work = 0;
        for (Connections.Ready ready = made.poll(); ready != null; ready = made.poll()) {
            work++;
            open(ready);
        }
        for (int index = arrivals.size() - 1; index >= 0; index--) {
            try {
                work += poll(arrivals.get(index));
            } catch (IOException failure) {
                LOG.debug("a connection with copies ended: {}", failure.toString());
                Arrival gone = arrivals.remove(index);
                gone.stream().close();
                if (gone.receiver().isInProgress()) {
                    gone.receiver().refuse("its sender has gone");
                }
            }
        }
        return work;
    }

    private void open(Connections.Ready ready) {
        try {
            SnapshotReceiver receiver = receivers.get();
            WholeFrame whole = new WholeFrame(CopyFrame.HEADER_BYTES, MAX_PAYLOAD, (from, _) -> {
                if (receiver.isInProgress()) {
                    receiver.refuse(from + " frames of it were lost or damaged");
                }
            }, _ -> MemorySegment.NULL);
            arrivals.add(new Arrival(new FrameStream(ready, rest, 0, 0), whole, receiver));
        } catch (IOException failure) {
            LOG.debug("a connection with copies could not be read: {}", failure.toString());
            ready.close();
        }
    }

    private int poll(Arrival arrival) throws IOException {
        arrival.stream().flush();
        int work = 0;
        for (int frames = 0; frames < FRAMES_PER_POLL && arrival.whole().readFrom(arrival.stream()); frames++) {
            work++;
            if (arrival.whole().isHere()) {
                take(arrival);
                arrival.whole().taken();
            }
        }
        return work;
    }

    private void take(Arrival arrival) {
        WholeFrame whole = arrival.whole();
        if (frame.wrap(whole.buffer(), 0, whole.length())) {
            arrival.receiver().take(frame);
        } else {
            arrival.receiver().refuse("found " + whole.length() + " bytes that are no frame of this version");
        }
    }

    @Override
    public void close() {
        isClosed = true;
        discard();
        arrivals.forEach(arrival -> arrival.stream().close());
        arrivals.clear();
    }
}
