package dev.troupe.chaos;

import dev.troupe.config.fault.FaultKind;
import dev.troupe.config.fault.FaultPoint;
import dev.troupe.config.fault.FaultSpec;
import dev.troupe.fault.FiredFault;
import java.util.Optional;

/**
 * Why a fault did not strike.
 *
 * @param reason
 *            in words, to stand behind a colon
 * @param wasDue
 *            false for a drawn fault whose moment the run did not come to: chance asked for nothing beyond the run's end
 */
public record MissedFault(String reason, boolean wasDue) {
    /**
     * Finds why a fault did not strike.
     *
     * @param isDrawn
     *            whether chance named it, and not the user
     * @param run
     *            the run that it is not among the struck faults of
     * @param lastStep
     *            the number of the run's last step, had it come to its end
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
