package dev.troupe.protocol.supervisor;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A process of a node, from its start to its end. A restart makes a new one. */
final class SupervisedProcess {
    /** A JVM with one sixtieth of a core starts in two or three minutes. */
    static final long LONGEST_START_NANOS = TimeUnit.MINUTES.toNanos(10);
    /**
     * A machine on which a JVM starts slowly also joins a cluster slowly, since each of a few messages waits for all
     * threads.
     */
    private static final int JOIN_IN_STARTS = 3;

    private final String node;
    private final boolean isRejoined;
    private final long startNanos;
    private final long firstQuestion;
    private boolean isAsked;
    private long askedNanos;
    private boolean isUp;
    private long upNanos;
    private boolean knowsRun;
    private ProcessState state = ProcessState.RUNNING;

    /**
     * @param isRejoined whether the process was started in place of a lost one
     * @param firstQuestion the number of the first question to this process; earlier ones went to its predecessor
     */
    SupervisedProcess(String node, boolean isRejoined, long startNanos, long firstQuestion) {
        this.node = node;
        this.isRejoined = isRejoined;
        this.startNanos = startNanos;
        this.firstQuestion = firstQuestion;
    }

    String node() {
        return node;
    }

    boolean isRejoined() {
        return isRejoined;
    }

    Duration lived(long nowNanos) {
        return Duration.ofNanos(nowNanos - startNanos);
    }

    ProcessState state() {
        return state;
    }

    boolean isAlive() {
        return state == ProcessState.RUNNING;
    }

    void end(ProcessState how) {
        state = how;
    }

    /** Returns whether to ask the process: one question at a time, since a process that hangs reads none. */
    boolean isToBeAsked() {
        return isAlive() && !isAsked;
    }

    void ask(long nowNanos) {
        isAsked = true;
        askedNanos = nowNanos;
    }

    /** Returns the time of the last question. */
    long askedNanos() {
        return askedNanos;
    }

    /** Records an answer; returns whether the question was for this process. */
    boolean answer(SupervisorEvent.Answered answered, long nowNanos) {
        if (answered.question() < firstQuestion) {
            return false;
        }
        isAsked = false;
        if (!isUp && answered.isUp()) {
            isUp = true;
            upNanos = nowNanos;
        }
        knowsRun |= answered.stepsDone().isPresent();
        return true;
    }

    /**
     * Returns whether the process is still starting or joining. It may take several times as long to join as to start. After
     * that limit a process hangs and no longer counts as starting.
     */
    boolean isStarting(long nowNanos) {
        boolean mayBeSlow = isUp
                ? nowNanos - upNanos < JOIN_IN_STARTS * (upNanos - startNanos)
                : nowNanos - startNanos < LONGEST_START_NANOS;
        return isAlive() && !knowsRun && mayBeSlow;
    }

    boolean knowsRun() {
        return knowsRun;
    }
}
