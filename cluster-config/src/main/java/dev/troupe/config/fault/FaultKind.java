package dev.troupe.config.fault;

import dev.troupe.config.problem.Word;
import java.util.EnumSet;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;

/** The kinds of faults. */
public enum FaultKind implements Word {
    /** The rank's thread throws a runtime exception in place of the action. */
    EXCEPTION("exception", Reach.RANK),
    /** The rank's thread throws an {@link OutOfMemoryError} in place of the action. */
    OUT_OF_MEMORY("out-of-memory", Reach.RANK),
    /** The action never begins: the rank's thread waits until the rank is given up or its node ends. */
    HANG("hang", Reach.RANK),
    /** The action takes {@code factor} times its usual time: a straggler. */
    SLOW("slow", Reach.WORK),
    /** The actor that walks the rank's row stops, without a notice to its stages and its thread. */
    STOP_SCHEDULE_ACTOR("stop-schedule-actor", Reach.RANK),
    /** The JVM of the rank exits, without a message to any node. */
    EXIT("exit", Reach.PROCESS),
    /** The JVM of the rank is ended from outside, by SIGKILL. */
    KILL("kill", Reach.PROCESS),
    /** The device of the rank fails in place of the action, so that its process cannot use the device again. */
    LOSE_DEVICE("lose-device", Reach.PROCESS),
    /** The JVM of the rank is stopped by SIGSTOP, and continues after {@code seconds} by SIGCONT. */
    FREEZE("freeze", Reach.RANK, 2),
    /** A message is lost, and its sender does not notice. */
    DROP("drop", Reach.MESSAGE),
    /** A message arrives twice. */
    DUPLICATE("duplicate", Reach.MESSAGE),
    /** A message arrives after the next one of its edge, or after {@code seconds} if there is no next one. */
    REORDER("reorder", Reach.MESSAGE, 0.5),
    /** A message leaves {@code seconds} late, and the later messages of its edge leave no sooner. */
    DELAY("delay", Reach.MESSAGE, 1),
    /** A message is damaged on its way, so that its checksum does not fit and the receiver drops it. */
    CORRUPT("corrupt", Reach.MESSAGE),
    /** The process of the media driver of the rank's machine is ended by SIGKILL. */
    KILL_DRIVER("kill-driver", Reach.PROCESS),
    /** The rank's node is cut off from the others' control plane for {@code seconds}. */
    CUT_CONTROL("cut-control", Reach.PROCESS, 5),
    /** The rank's node sends the others no tensors for {@code seconds}. */
    CUT_DATA("cut-data", Reach.PROCESS, 5),
    /** Both links of the rank's node are cut for {@code seconds}. */
    CUT_BOTH("cut-both", Reach.PROCESS, 5),
    /** The JVM of the coordinator is ended by SIGKILL; the fault matches only ranks of that JVM. */
    KILL_COORDINATOR("kill-coordinator", Reach.PROCESS),
    /** A part of a checkpoint cannot be written, since the disk is full. */
    DISK_FULL("disk-full", Reach.CHECKPOINT),
    /** A byte of a part of a checkpoint changes after it was written. */
    CORRUPT_CHECKPOINT("corrupt-checkpoint", Reach.CHECKPOINT),
    /** The snapshot of the step is missing when a restart asks for it. */
    LOSE_SNAPSHOT("lose-snapshot", Reach.SNAPSHOT),
    /** A bit flips in the result of a kernel other than a norm, in a message before it leaves, or in an updated weight. */
    FLIP_BIT("flip-bit", Reach.BITS),
    /** A bit flips in the output of a norm, or in one of its gradients. */
    FLIP_NORM_BIT("flip-norm-bit", Reach.NORMS),
    /** The clock by which the node measures durations jumps {@code seconds} ahead. */
    CLOCK_JUMP("clock-jump", Reach.RANK, 3600),
    /** The JVM of the rank repeats full garbage collections for {@code seconds}. */
    COLLECT_GARBAGE("collect-garbage", Reach.RANK, 1),
    /** The rows of a microbatch are read {@code seconds} late. */
    LATE_DATA("late-data", Reach.DATA, 1),
    /** The buffer for another message, and with it the credit, is granted {@code seconds} after a message was taken. */
    LATE_CREDIT("late-credit", Reach.CREDIT, 1);

    /** The targets of kinds. */
    public enum Reach {
        /** A rank, in its own process. */
        RANK(EnumSet.allOf(FaultPoint.class)),
        /** The computation of a rank. */
        WORK(EnumSet.of(FaultPoint.FORWARD, FaultPoint.BACKWARD_INPUT, FaultPoint.BACKWARD_WEIGHT, FaultPoint.BACKWARD,
                FaultPoint.RECOMPUTE, FaultPoint.REDUCE, FaultPoint.OPTIMIZER)),
        /**
         * A process, a network link or a coordinator: a run in one process does not survive the fault, or has no such
         * target.
         */
        PROCESS(EnumSet.allOf(FaultPoint.class)),
        /** The rows of a microbatch, which the forward of the first stage and of the last one reads. */
        DATA(EnumSet.of(FaultPoint.FORWARD)),
        /** The credit that is granted when a message is taken. */
        CREDIT(EnumSet.of(FaultPoint.RECEIVE)),
        /** A message between two ranks. */
        MESSAGE(EnumSet.of(FaultPoint.SEND)),
        /** Numbers that a rank computes or sends. */
        BITS(EnumSet.of(FaultPoint.FORWARD, FaultPoint.BACKWARD_INPUT, FaultPoint.BACKWARD_WEIGHT, FaultPoint.BACKWARD,
                FaultPoint.SEND, FaultPoint.OPTIMIZER)),
        /** Numbers that the norms of a rank compute. */
        NORMS(EnumSet.of(FaultPoint.FORWARD, FaultPoint.BACKWARD_INPUT, FaultPoint.BACKWARD_WEIGHT,
                FaultPoint.BACKWARD)),
        /** A part of a checkpoint. */
        CHECKPOINT(EnumSet.of(FaultPoint.CHECKPOINT)),
        /** A rank's snapshot. */
        SNAPSHOT(EnumSet.of(FaultPoint.COMMIT));

        private final Set<FaultPoint> points;

        Reach(Set<FaultPoint> points) {
            this.points = points;
        }
    }

    private final String word;
    private final Reach reach;
    private final OptionalDouble usualSeconds;

    FaultKind(String word, Reach reach) {
        this.word = word;
        this.reach = reach;
        this.usualSeconds = OptionalDouble.empty();
    }

    FaultKind(String word, Reach reach, double usualSeconds) {
        this.word = word;
        this.reach = reach;
        this.usualSeconds = OptionalDouble.of(usualSeconds);
    }

    @Override
    public String word() {
        return word;
    }

    public Reach reach() {
        return reach;
    }

    /** Returns the points at which the kind can strike. */
    public Set<FaultPoint> points() {
        return Set.copyOf(reach.points);
    }

    /** Returns whether the point sends or receives a message; without a point, whether all points of the kind do. */
    boolean strikesOnlyMessages(Optional<FaultPoint> at) {
        return at.map(FaultPoint::isOfMessage)
                .orElseGet(() -> reach.points.stream().allMatch(FaultPoint::isOfMessage));
    }

    /** Returns the default length in seconds; empty for a kind without a length. */
    public OptionalDouble usualSeconds() {
        return usualSeconds;
    }

    public boolean hasFactor() {
        return this == SLOW;
    }
}
