package dev.troupe.protocol.supervisor;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The end of a node's process before the end of the run, and the evidence that the run continues without the process: a step
 * that was committed after the end.
 *
 * <p>The answers to questions of the first moment, and the first answer of each process since the end, show the steps
 * committed before it, as far as the nodes knew; only a later answer with more steps than all of these is evidence. The
 * moment is short, since a run may have its last steps right after the end of a process.
 */
final class NodeFailure {
    /** Longer than the notification of a commit takes to reach a node. */
    private static final long COMMIT_KNOWN_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final SupervisedProcess process;
    private final String how;
    private final boolean hasComplained;
    private final long sinceNanos;
    private final Set<SupervisedProcess> heard = new HashSet<>();
    private long stepsBefore;
    private boolean isSurvived;

    /**
     * @param process the process, which has ended
     * @param sinceNanos the time of its end
     * @param stepsBefore the committed steps of the answers until now
     */
    NodeFailure(SupervisedProcess process, SupervisorEvent.NodeEnded end, long sinceNanos, long stepsBefore) {
        this.process = process;
        this.how = end.how();
        this.hasComplained = end.hasComplained();
        this.sinceNanos = sinceNanos;
        this.stepsBefore = stepsBefore;
    }

    /** Notes the answer of a process to a question that was asked at this time. */
    void hear(SupervisedProcess from, long askedNanos, long stepsDone) {
        long ageNanos = ageNanos(askedNanos);
        boolean isOfBefore = ageNanos < 0 || heard.add(from) || ageNanos < COMMIT_KNOWN_NANOS;
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

    /** Returns whether a process that was started again was refused; another one would be refused too. */
    boolean isRefusedAgain() {
        return process.isRejoined() && process.state() == ProcessState.REFUSED;
    }

    Duration lived() {
        return process.lived(sinceNanos);
    }

    /** Returns the time from the end to another time, in nanoseconds. */
    long ageNanos(long thenNanos) {
        return thenNanos - sinceNanos;
    }
}
