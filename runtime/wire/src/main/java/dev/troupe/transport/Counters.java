package dev.troupe.transport;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** The counts of the transport thread; that thread writes, any thread reads. */
public final class Counters {
    private static final Logger LOG = LoggerFactory.getLogger(Counters.class);
    /** One line a second for each reason, so that a flood of bad frames is no flood of lines. */
    private static final long LOG_INTERVAL_NANOS = 1_000_000_000L;

    private final AtomicLong messagesSent = new AtomicLong();
    private final AtomicLong messagesReceived = new AtomicLong();
    private final AtomicLong bytesSent = new AtomicLong();
    private final AtomicLong bytesReceived = new AtomicLong();
    private final AtomicLong backPressured = new AtomicLong();
    private final AtomicLongArray dropped = new AtomicLongArray(DropReason.values().length);
    private final long[] loggedAtNanos = new long[DropReason.values().length];
    private final long[] loggedCount = new long[DropReason.values().length];

    /** Payload bytes have left. */
    public void sentBytes(int bytes) {
        add(bytesSent, bytes);
    }

    /** A message has left whole. */
    public void sentMessage() {
        add(messagesSent, 1);
    }

    /** Payload bytes are in a granted buffer. */
    public void receivedBytes(int bytes) {
        add(bytesReceived, bytes);
    }

    /** A message has landed whole. */
    public void receivedMessage() {
        add(messagesReceived, 1);
    }

    /** A window to another node was full. */
    public void wasBackPressured() {
        add(backPressured, 1);
    }

    /** Counts a dropped frame, and logs it unless it has just logged the same reason. */
    public void drop(DropReason reason, int fromNode, int frameBytes, long nowNanos) {
        int index = reason.ordinal();
        long count = dropped.get(index) + 1;
        dropped.setRelease(index, count);
        if (loggedCount[index] == 0 || nowNanos - loggedAtNanos[index] >= LOG_INTERVAL_NANOS) {
            // Frames of an epoch that has ended are on their way in every recovery.
            LOG.atLevel(reason == DropReason.OLD_EPOCH ? Level.DEBUG : Level.WARN).log(
                    "dropped a frame of {} bytes from node {}: {} ({} of this reason since the last line, {} in all)",
                    frameBytes, fromNode, reason, count - loggedCount[index], count);
            loggedCount[index] = count;
            loggedAtNanos[index] = nowNanos;
        }
    }

    /** Returns the counts so far; any thread. */
    public TransportCounters counters() {
        Map<DropReason, Long> drops = new EnumMap<>(DropReason.class);
        for (DropReason reason : DropReason.values()) {
            drops.put(reason, dropped.getAcquire(reason.ordinal()));
        }
        return new TransportCounters(messagesSent.getAcquire(), messagesReceived.getAcquire(), bytesSent.getAcquire(),
                bytesReceived.getAcquire(), backPressured.getAcquire(), drops);
    }

    /** A single thread writes, so no atomic addition is needed. */
    private static void add(AtomicLong counter, long amount) {
        counter.setRelease(counter.getPlain() + amount);
    }
}
