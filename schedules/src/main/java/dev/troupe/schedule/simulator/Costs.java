package dev.troupe.schedule.simulator;

import dev.troupe.schedule.Kind;
import java.util.Collections;
import java.util.List;

/**
 * The costs of the stages, messages and decisions of a plan, given or measured.
 *
 * @param hops the hop between any two ranks
 * @param decisionNanos time from the last gradient or norm of a step to the decision for which updates wait
 * @param sharedBytes size of the gradient of a parameter that two stages share, which each sends to the other
 */
public record Costs(List<StageCost> stages, Hops hops, long decisionNanos, long sharedBytes,
        Microbatches microbatches) {

    /** The hop between two ranks. */
    @FunctionalInterface
    public interface Hops {
        Hop between(int fromRank, int toRank);
    }

    /** The cost of a microbatch, relative to the cost of the stage. */
    @FunctionalInterface
    public interface Microbatches {
        /** Microbatches of the same length. */
        Microbatches ALIKE = (_, _, _) -> 1;

        /** Returns the share of the stage's cost that an action of a microbatch takes; 1 is the whole cost. */
        double share(int stage, Kind kind, int microbatch);
    }

    public Costs {
        stages = List.copyOf(stages);
    }

    /** Creates costs with a shared gradient that takes no time but the latency of its hop. */
    public Costs(List<StageCost> stages, Hops hops, long decisionNanos, Microbatches microbatches) {
        this(stages, hops, decisionNanos, 0, microbatches);
    }

    /** Creates costs with equal microbatches. */
    public Costs(List<StageCost> stages, Hops hops, long decisionNanos) {
        this(stages, hops, decisionNanos, Microbatches.ALIKE);
    }

    /** Creates costs without a time for the decision on updates. */
    public Costs(List<StageCost> stages, Hops hops) {
        this(stages, hops, 0);
    }

    /** Returns the time of an action; the microbatch counts if its kind has one. */
    long nanos(int stage, Kind kind, int microbatch) {
        long nanos = stages.get(stage).nanos(kind);
        return microbatches == Microbatches.ALIKE || !kind.isPerMicrobatch()
                ? nanos
                : Math.round(nanos * microbatches.share(stage, kind, microbatch));
    }

    public static Costs uniform(int stageCount, StageCost stage, Hop hop) {
        return new Costs(Collections.nCopies(stageCount, stage), (fromRank, toRank) -> hop);
    }

    /** Returns costs of one nanosecond for F, I and W each, two for B, and none for messages: the unit of times is an F. */
    public static Costs units(int stageCount) {
        return uniform(stageCount, new StageCost(1, 1, 1, 0), Hop.FREE);
    }
}
