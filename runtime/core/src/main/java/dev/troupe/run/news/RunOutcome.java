package dev.troupe.run.news;

import java.util.Optional;

/**
 * The end of a run.
 *
 * @param failure the reason of its failure, in one sentence; empty if it reached its end or was stopped
 * @param cause the exception or error of the failure, if one was thrown in this process
 * @param wasRefused whether nothing was started, since the request does not fit the existing run
 */
public record RunOutcome(long stepsDone, Optional<String> failure, Optional<Throwable> cause,
        boolean wasRefused) {
    public RunOutcome(long stepsDone, Optional<String> failure) {
        this(stepsDone, failure, Optional.empty(), false);
    }

    public static RunOutcome failed(long stepsDone, String reason, Throwable cause) {
        return new RunOutcome(stepsDone, Optional.of(reason), Optional.of(cause), false);
    }

    /** Returns the end of a run that refused this node. */
    public static RunOutcome refused(String why) {
        return new RunOutcome(0, Optional.of(why), Optional.empty(), true);
    }
}
