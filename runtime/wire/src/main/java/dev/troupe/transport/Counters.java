package dev.troupe.transport;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** The counters of a transport. The transport's thread writes, any thread reads. */
public final class Counters {
    private static final Logger LOG = LoggerFactory.getLogger(Counters.class);
    /** The least time between two lines with the same reason, so that a flood of bad frames does not flood the log. */
    private static final long LOG_INTERVAL_NANOS = 1_000_000_000L;

    private final AtomicLong messagesSent = new AtomicLong();
    private final AtomicLong messagesReceived = new AtomicLong();
    private final AtomicLong bytesSent = new AtomicLong();
    private final AtomicLong bytesReceived = new AtomicLong();
    private final AtomicLong backPressured = new AtomicLong();
    private final AtomicLongArray dropped = new AtomicLongArray(DropReason.values().length);
    private final long[] loggedAtNanos = new long[DropReason.values().length];
    private final long[] loggedCount = new long[DropReason.values().length];

    /** Counts sent payload bytes. */
    public void sentBytes(int bytes) {
        add(bytesSent, bytes);
    }

    /** Counts a completely sent message. */
    public void sentMessage() {
        add(messagesSent, 1);
    }

    /** Counts payload bytes that are in a granted buffer. */
    public void receivedBytes(int bytes) {
        add(bytesReceived, bytes);
    }

    /** Counts a completely received message. */
    public void receivedMessage() {
        add(messagesReceived, 1);
    }

    /** Counts a full window to another node. */
    public void wasBackPressured() {
        add(backPressured, 1);
    }

    /** Counts a dropped frame, and logs it at most once a second for each reason. */
    public void drop(DropReason reason, int fromNode, int frameBytes, long nowNanos) {
        int index = reason.ordinal();
        long count = dropped.get(index) + 1;
        dropped.setRelease(index, count);
        if (loggedCount[index] == 0 || nowNanos - loggedAtNanos[index] >= LOG_INTERVAL_NANOS) {
            // Each recovery has frames in flight from the epoch before.
            LOG.atLevel(reason == DropReason.OLD_EPOCH ? Level.DEBUG : Level.WARN).log(
                    "dropped a frame of {} bytes from node {}: {} ({} of this reason since the last line, {} in all)",
                    frameBytes, fromNode, reason, count - loggedCount[index], count);
            loggedCount[index] = count;
            loggedAtNanos[index] = nowNanos;
        }
    }

    /** Returns the counts so far. Any thread. */
    public TransportCounters counters() {
        Map<DropReason, Long> drops = new EnumMap<>(DropReason.class);
        for (DropReason reason : DropReason.values()) {
            drops.put(reason, dropped.getAcquire(reason.ordinal()));
        }
        return new TransportCounters(messagesSent.getAcquire(), messagesReceived.getAcquire(), bytesSent.getAcquire(),
                bytesReceived.getAcquire(), backPressured.getAcquire(), drops);
    }

    /** Needs no atomic addition, since only one thread writes. */
    private static void add(AtomicLong counter, long amount) {
        counter.setRelease(counter.getPlain() + amount);
    }
}
