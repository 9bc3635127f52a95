package dev.troupe.schedule.simulator;

import java.util.Collections;
import java.util.List;

/**
 * What everything in a plan costs, given or measured.
 *
 * @param stages the cost of each stage
 * @param hops the way between any two ranks
 */
public record Costs(List<StageCost> stages, Hops hops) {

    /** The way between two ranks. */
    @FunctionalInterface
    public interface Hops {
        /** The way from one rank to another. */
        Hop between(int fromRank, int toRank);
    }

    public Costs {
        stages = List.copyOf(stages);
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
