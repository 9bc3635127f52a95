package dev.troupe.transport.device;

import java.util.ArrayList;
import java.util.List;

/**
 * Unused rings with memory that their writers may still have open. No driver defines the effect of freeing memory that
 * another process has open.
 *
 * <p>Thread rule: the transport's thread.
 */
public final class RetiredRings {
    private static final long LOOK_NANOS = 200_000_000;

    private final List<ReceivingRing<?>> rings = new ArrayList<>();
    private long lookedNanos;

    void add(ReceivingRing<?> ring) {
        rings.add(ring);
    }

    /** Frees the memory that no other process has open, checking a few times a second. */
    public void look(long nowNanos) {
        if (!rings.isEmpty() && nowNanos - lookedNanos > LOOK_NANOS) {
            lookedNanos = nowNanos;
            close();
        }
    }

    /** Frees the memory that no other process has open; the rest is freed when this process ends. */
    public void close() {
        rings.removeIf(ReceivingRing::close);
    }
}
