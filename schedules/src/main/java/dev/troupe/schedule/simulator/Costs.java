package dev.troupe.schedule.simulator;

import java.util.Collections;
import java.util.List;

/**
 * What everything in a plan costs, given or measured.
 *
 * @param stages the cost of each stage
 * @param hops the way between any two ranks
 * @param decisionNanos from the end of the last norm of a step to the decision that updates wait for
 */
public record Costs(List<StageCost> stages, Hops hops, long decisionNanos) {

    /** The way between two ranks. */
    @FunctionalInterface
    public interface Hops {
        /** The way from one rank to another. */
        Hop between(int fromRank, int toRank);
    }

    public Costs {
        stages = List.copyOf(stages);
    }

    /** Costs of a plan without updates, or in which they are decided on in no time. */
    public Costs(List<StageCost> stages, Hops hops) {
        this(stages, hops, 0);
    }

    /** The same cost for every stage, the same hop between all ranks. */
    public static Costs uniform(int stageCount, StageCost stage, Hop hop) {
        return new Costs(Collections.nCopies(stageCount, stage), (fromRank, toRank) -> hop);
    }

    /** F, I and W take one nanosecond each, B two, and messages none: times are then in units of an F. */
    public static Costs units(int stageCount) {
        return uniform(stageCount, new StageCost(1, 1, 1, 0), Hop.FREE);
    }
}
