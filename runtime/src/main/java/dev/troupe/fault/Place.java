package dev.troupe.fault;

import dev.troupe.config.fault.FaultMessage;
import dev.troupe.config.fault.FaultPoint;
import dev.troupe.config.fault.FaultSpec;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Where a fault may strike.
 *
 * @param point
 *            of the step
 * @param rank
 *            the rank that passes it
 * @param stage
 *            the stage that it is about
 * @param step
 *            the optimizer step
 * @param microbatch
 *            of the rank's pipeline; {@link #NO_MICROBATCH} at points that come once in a step
 * @param message
 *            what is handed over or taken there; empty at other points
 */
record Place(FaultPoint point, int rank, int stage, long step, int microbatch, Optional<FaultMessage> message) {
    /** Stands for none. */
    static final int NO_MICROBATCH = -1;

    /** Whether a fault is meant for this place, chance aside. */
    boolean matches(FaultSpec fault) {
        return fault.strikesAt(point) && (fault.rank().isEmpty() || fault.rank().getAsInt() == rank)
                && (fault.stage().isEmpty() || fault.stage().getAsInt() == stage)
                && (fault.step().isEmpty() || fault.step().getAsLong() == step)
                && (fault.microbatch().isEmpty() || fault.microbatch().getAsInt() == microbatch)
                && (fault.message().isEmpty() || fault.message().equals(message));
    }

    /** Whether chance has a fault strike here: a function of seed and place, so that a run repeats. */
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
