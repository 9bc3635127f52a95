package dev.troupe.run.setup;

import dev.troupe.plan.error.Reason;
import dev.troupe.run.news.EventLog;
import java.util.Optional;

/**
 * The progress of a run as a node knows it, for the node's log lines. Each run of a JVM has its own. Thread rule: any
 * thread.
 */
public final class RunPosition {
    private volatile int epoch;
    private volatile long stepsDone;
    private volatile boolean isOpen;
    private volatile Throwable met;

    public long stepsDone() {
        return stepsDone;
    }

    /** Whether the node takes part in a run that has begun. */
    public boolean isOpen() {
        return isOpen;
    }

    /** Logs an event of the node. */
    public void log(String event) {
        EventLog.ofRun(epoch, stepsDone, event);
    }

    /** Records the last error in a part of the run in this process; null has no effect. */
    public void met(Throwable failure) {
        if (failure != null) {
            met = failure;
        }
    }

    /** Returns the last recorded error, if it is the one that a reason names. */
    public Optional<Throwable> causeOf(String reason) {
        return Optional.ofNullable(met).map(Reason::met).filter(failure -> reason.contains(Reason.of(failure)));
    }

    public String whyEnded() {
        return "the actors ended before the run did" + Optional.ofNullable(met)
                .map(failure -> ": " + Reason.of(failure)).orElse("; the log has the cause");
    }

    public void reach(int newEpoch, long steps) {
        epoch = newEpoch;
        stepsDone = steps;
        isOpen = true;
    }
}
