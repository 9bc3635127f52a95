package dev.troupe.trace;

import java.util.HashMap;
import java.util.Map;

/**
 * How far the clocks of the ranks' processes are ahead of the coordinator's: from the round trip that was the shortest, half
 * of which is the error (Cristian 1989).
 *
 * <p>Thread rule: the coordinator's thread.
 */
public final class NodeClocks {
    /**
     * A clock.
     *
     * @param aheadNanos
     *            the nanoseconds by which it is ahead
     * @param errorNanos
     *            the most by which this may be wrong
     */
    public record Offset(long aheadNanos, long errorNanos) {
        /** The coordinator's own clock. */
        public static final Offset NONE = new Offset(0, 0);
    }

    private final Map<Integer, Offset> offsets = new HashMap<>();

    /**
     * Takes in an answer.
     *
     * @param askedNanos
     *            the coordinator's clock when it asked
     * @param thereNanos
     *            the rank's clock when it answered
     * @param answeredNanos
     *            the coordinator's clock when the answer arrived
     */
    public void answered(int rank, long askedNanos, long thereNanos, long answeredNanos) {
        long error = (answeredNanos - askedNanos + 1) / 2; // rounded up
        long ahead = thereNanos - (askedNanos + (answeredNanos - askedNanos) / 2);
        // Processes of one machine have one clock: what is within the error is nothing.
        Offset heard = Math.abs(ahead) <= error ? new Offset(0, error) : new Offset(ahead, error);
        offsets.merge(rank, heard, (known, fresh) -> fresh.errorNanos() <= known.errorNanos() ? fresh : known);
    }

    /** The process of a rank is another one from now on. */
    public void forget(int rank) {
        offsets.remove(rank);
    }

    /** Returns the clock of a rank; the coordinator's own before an answer has come. */
    public Offset of(int rank) {
        return offsets.getOrDefault(rank, Offset.NONE);
    }
}
