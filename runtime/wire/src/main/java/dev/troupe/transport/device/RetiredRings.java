package dev.troupe.transport.device;

import java.util.ArrayList;
import java.util.List;

/**
 * Rings that nobody reads any more, with memory that their writers may still have open: what happens to memory that is freed
 * while another process has it open, no driver defines.
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

    /** Gives the memory back that no other process has open; looks now and then. */
    public void look(long nowNanos) {
        if (!rings.isEmpty() && nowNanos - lookedNanos > LOOK_NANOS) {
            lookedNanos = nowNanos;
            close();
        }
    }

    /** Gives the memory back that no other process has open. The rest goes with this process. */
    public void close() {
        rings.removeIf(ReceivingRing::close);
    }
}
