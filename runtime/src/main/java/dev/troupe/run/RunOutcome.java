package dev.troupe.run;

import java.util.Optional;

/**
 * How a run ended.
 *
 * @param stepsDone
 *            committed steps
 * @param failure
 *            one sentence where the run failed; empty where it came to its end or was stopped
 */
public record RunOutcome(long stepsDone, Optional<String> failure) {
}
