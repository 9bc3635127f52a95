package dev.troupe.look.chaos;

import dev.troupe.config.fault.FaultKind;
import dev.troupe.config.fault.FaultPoint;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.rank.fault.FiredFault;
import java.util.Optional;

/**
 * A fault that did not strike.
 *
 * @param reason the reason, as text after a colon
 * @param wasDue false for a drawn fault with a moment beyond the run's end
 */
public record MissedFault(String reason, boolean wasDue) {
    /**
     * Finds the reason why a fault did not strike.
     *
     * @param isDrawn whether the fault was drawn, and not named by the user
     * @param run the run in which the fault did not strike
     * @param lastStep the number of the last step of a complete run
     */
    static MissedFault of(FaultSpec fault, boolean isDrawn, RunRecord run, long lastStep) {
        long endedIn = run.losses().keySet().stream().mapToLong(Long::longValue).max().orElse(-1) + 1;
        if (endedIn <= lastStep && fault.step().orElse(endedIn) >= endedIn) {
            boolean isOfLaterStep = fault.step().isPresent() && fault.step().getAsLong() > endedIn;
            return new MissedFault("the run ended in step " + endedIn + ", before "
                    + (isOfLaterStep ? "step " + fault.step().getAsLong() : "a place that matches"), !isDrawn);
        }
        return new MissedFault(reason(fault, run), true);
    }

    private static String reason(FaultSpec fault, RunRecord run) {
        if (fault.probability() < 1) {
            return "of the places that match, its probability and its seed, " + fault.seed() + ", drew none";
        }
        if (fault.kind() == FaultKind.KILL_COORDINATOR) {
            return "only ranks of the node that leads count, and none of them passed a place that matches";
        }
        return struckBefore(fault, run).orElseGet(() -> unmet(fault));
    }

    private static Optional<String> struckBefore(FaultSpec fault, RunRecord run) {
        return run.fired().stream().filter(fired -> fired.isWhere(fault)).findFirst()
                .map(FiredFault::fault)
                .map(other -> '"' + other + "\" struck there first, and the place did not come again");
    }

    private static String unmet(FaultSpec fault) {
        if (fault.kind().reach() == FaultKind.Reach.MESSAGE) {
            return "no message that matches was sent";
        }
        if (fault.kind().reach() == FaultKind.Reach.CHECKPOINT
                || fault.at().equals(Optional.of(FaultPoint.CHECKPOINT))) {
            return "no part of a checkpoint that matches was written";
        }
        return "no rank passed a place that matches";
    }
}
