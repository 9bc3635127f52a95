package dev.troupe.protocol.supervisor;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The end of a node's process before the end of the run, with the evidence that the run continues: a step committed after
 * it.
 *
 * <p>Answers to questions of the first moment, and each process's first answer after the end, may show steps that were
 * committed before it. Only a later answer with more steps than all of these is evidence. The moment is short, since a run
 * may have its last steps right after the end of a process.
 */
final class NodeFailure {
    /** Longer than the news of a commit takes to reach a node. */
    private static final long COMMIT_KNOWN_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final SupervisedProcess process;
    private final String how;
    private final boolean hasComplained;
    private final long sinceNanos;
    private final Set<SupervisedProcess> answered = new HashSet<>();
    private long stepsBefore;
    private boolean isSurvived;

    /**
     * @param stepsBefore the most committed steps of any answer before it
     */
    NodeFailure(SupervisedProcess process, SupervisorEvent.NodeEnded end, long sinceNanos, long stepsBefore) {
        this.process = process;
        this.how = end.how();
        this.hasComplained = end.hasComplained();
        this.sinceNanos = sinceNanos;
        this.stepsBefore = stepsBefore;
    }

    /** Records a process's answer to a question that was asked at this time. */
    void add(SupervisedProcess from, long askedNanos, long stepsDone) {
        long ageNanos = ageNanos(askedNanos);
        boolean isOfBefore = ageNanos < 0 || answered.add(from) || ageNanos < COMMIT_KNOWN_NANOS;
        if (isOfBefore) {
            stepsBefore = Math.max(stepsBefore, stepsDone);
        } else if (stepsDone > stepsBefore) {
            isSurvived = true;
        }
    }

    /** Returns whether a step was committed after the end. */
    boolean isSurvived() {
        return isSurvived;
    }

    String node() {
        return process.node();
    }

    /** Returns the end of the process, in words. */
    String how() {
        return how;
    }

    boolean hasComplained() {
        return hasComplained;
    }

    boolean isLost() {
        return process.state() == ProcessState.LOST;
    }

    /** Returns whether this is no consequence of another process's end, and the process has printed no reason. */
    boolean isReportedAtOnce() {
        return isLost() && !hasComplained;
    }

    /** Returns whether a restarted process was refused, as a further one would be. */
    boolean isRefusedAgain() {
        return process.isRejoined() && process.state() == ProcessState.REFUSED;
    }

    Duration lived() {
        return process.lived(sinceNanos);
    }

    /** Returns the time from the end to {@code thenNanos}, in nanoseconds. */
    long ageNanos(long thenNanos) {
        return thenNanos - sinceNanos;
    }
}
