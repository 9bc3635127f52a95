package dev.troupe.observe;

import java.util.Optional;

/**
 * The end of a run.
 *
 * @param stepsDone
 *            optimizer steps done
 * @param failure
 *            the reason of its failure, in one sentence; empty if it reached its end or was told to stop
 * @param wasRefused
 *            whether nothing had started, since the request does not fit the existing run
 */
public record RunOutcome(long stepsDone, Optional<String> failure, boolean wasRefused) {
    /** Creates the end of a run that had started. */
    public RunOutcome(long stepsDone, Optional<String> failure) {
        this(stepsDone, failure, false);
    }

    /** Returns the end of a run that refused this node. */
    public static RunOutcome refused(String why) {
        return new RunOutcome(0, Optional.of(why), true);
    }
}
