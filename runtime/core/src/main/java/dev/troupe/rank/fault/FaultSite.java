package dev.troupe.rank.fault;

import dev.troupe.config.fault.FaultMessage;
import dev.troupe.config.fault.FaultPoint;
import dev.troupe.config.fault.FaultSpec;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * A site at which a fault may strike.
 *
 * @param microbatch the microbatch of the rank's pipeline; {@link #NO_MICROBATCH} at points that come once in a step
 * @param message the message that is sent or received; empty at other points
 */
record FaultSite(FaultPoint point, int rank, int stage, long step, int microbatch, Optional<FaultMessage> message) {
    static final int NO_MICROBATCH = -1;

    /** Whether a fault matches this site, without its probability. */
    boolean matches(FaultSpec fault) {
        return fault.strikesAt(point) && (fault.rank().isEmpty() || fault.rank().getAsInt() == rank)
                && (fault.stage().isEmpty() || fault.stage().getAsInt() == stage)
                && (fault.step().isEmpty() || fault.step().getAsLong() == step)
                && (fault.microbatch().isEmpty() || fault.microbatch().getAsInt() == microbatch)
                && (fault.message().isEmpty() || fault.message().equals(message));
    }

    /** Whether a fault with a probability strikes here: a function of seed and site, so that a run can be repeated. */
    boolean isDrawn(FaultSpec fault) {
        if (fault.probability() == 1) {
            return true;
        }
        long seed = fault.seed();
        for (long number : new long[]{fault.kind().ordinal(), point.ordinal(), rank, stage, step, microbatch,
                message.map(FaultMessage::ordinal).orElse(-1)}) {
            seed = new SplittableRandom(seed ^ number).nextLong();
        }
        return new SplittableRandom(seed).nextDouble() < fault.probability();
    }
}
