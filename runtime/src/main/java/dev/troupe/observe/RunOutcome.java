package dev.troupe.observe;

import java.util.Optional;

/**
 * How a run ended.
 *
 * @param stepsDone
 *            optimizer steps that lie behind
 * @param failure
 *            why it could not go on, in one sentence; empty if it reached its end or was told to stop
 * @param wasRefused
 *            whether nothing had started: what was asked for does not fit the run that is there
 */
public record RunOutcome(long stepsDone, Optional<String> failure, boolean wasRefused) {
    /** The end of a run that had started. */
    public RunOutcome(long stepsDone, Optional<String> failure) {
        this(stepsDone, failure, false);
    }

    /** A run that would not have this node. */
    public static RunOutcome refused(String why) {
        return new RunOutcome(0, Optional.of(why), true);
    }
}
