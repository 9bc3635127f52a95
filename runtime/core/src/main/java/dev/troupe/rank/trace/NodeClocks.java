package dev.troupe.rank.trace;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The offsets of the ranks' clocks from the coordinator's. An offset is measured by a round trip; its error is half of the
 * round trip, so the shortest one is used (Cristian 1989). Clocks drift apart, so the error grows with age, until a longer
 * but younger round trip is better. Thread rule: the coordinator's thread.
 */
public final class NodeClocks {
    /**
     * The offset of a clock.
     *
     * @param aheadNanos the nanoseconds by which it is ahead
     * @param errorNanos the largest error at the time of measurement
     * @param measuredNanos the coordinator's clock then
     */
    public record Offset(long aheadNanos, long errorNanos, long measuredNanos) {
        /** Returns the largest error at an instant of the coordinator's clock. */
        long errorNanos(long now) {
            return errorNanos + Math.max(0, now - measuredNanos) / NANOS_PER_DRIFT;
        }
    }

    /** Computers' oscillators deviate by at most 50 ppm, so two of them drift apart by at most twice that. */
    private static final long NANOS_PER_DRIFT = 10_000;

    private final Map<Integer, Offset> offsets = new HashMap<>();

    /**
     * Adds a measurement.
     *
     * @param askedNanos the coordinator's clock at the question
     * @param thereNanos the rank's clock at the answer
     * @param answeredNanos the coordinator's clock when the answer arrived
     */
    public void answered(int rank, long askedNanos, long thereNanos, long answeredNanos) {
        long error = (answeredNanos - askedNanos + 1) / 2; // rounded up
        long ahead = thereNanos - (askedNanos + (answeredNanos - askedNanos) / 2);
        // Processes of one machine have one clock, so an offset within the error counts as zero.
        Offset measured = new Offset(Math.abs(ahead) <= error ? 0 : ahead, error, answeredNanos);
        offsets.merge(rank, measured,
                (known, fresh) -> fresh.errorNanos() <= known.errorNanos(answeredNanos) ? fresh : known);
    }

    /** Forgets the clock of a rank, which moves to another process. */
    public void forget(int rank) {
        offsets.remove(rank);
    }

    /** Returns the clock of a rank; empty before the first answer. */
    public Optional<Offset> of(int rank) {
        return Optional.ofNullable(offsets.get(rank));
    }
}
