package dev.troupe.schedule.builder;

import dev.troupe.schedule.PlanException;

/**
 * The order of microbatches on the V stages of a rank in interleaved schedules. M microbatches make max(1, M / P) rounds of
 * the same size, and each round goes through all stages of the rank before the next one.
 *
 * @param pipeline number of ranks, P
 * @param virtualStages stages on each rank, V
 * @param microbatches microbatches in the step, M
 */
public record Rounds(int pipeline, int virtualStages, int microbatches) {

    /**
     * Creates the rounds.
     * @throws PlanException if the microbatches are not divisible by the rounds; the message names numbers that are
     */
    public static Rounds of(String name, int pipeline, int virtualStages, int microbatches) {
        if (!areEven(pipeline, microbatches)) {
            int fewer = microbatches - 1;
            while (!areEven(pipeline, fewer)) {
                fewer--;
            }
            int more = microbatches + 1;
            while (!areEven(pipeline, more)) {
                more++;
            }
            int rounds = count(pipeline, microbatches);
            throw new PlanException(name + " takes " + microbatches + " microbatches through " + pipeline + " ranks in "
                    + rounds + " rounds, but " + microbatches + " is not divisible by " + rounds + ": take " + fewer
                    + " or " + more + " microbatches.");
        }
        return new Rounds(pipeline, virtualStages, microbatches);
    }

    private static boolean areEven(int pipeline, int microbatches) {
        return microbatches % count(pipeline, microbatches) == 0;
    }

    private static int count(int pipeline, int microbatches) {
        return Math.max(1, microbatches / pipeline); // rounded down: a round is never shorter than the pipeline
    }

    /** Returns the number of forwards of a rank, and of its backwards. */
    public int perRank() {
        return virtualStages * microbatches;
    }

    /**
     * Returns the number of forwards before the first backward: fewer on later ranks, by {@code perRankThatFollows} each.
     */
    public int warmUp(int rank, int perRankThatFollows) {
        long wanted = (long) (virtualStages - 1) * perRound() + (long) perRankThatFollows * (pipeline - 1 - rank);
        return (int) Math.min(wanted, perRank());
    }

    public int forwardStage(int rank, int k) {
        int localStage = k / perRound() % virtualStages; // rounded down
        return localStage * pipeline + rank;
    }

    public int backwardStage(int rank, int k) {
        int localStage = virtualStages - 1 - k / perRound() % virtualStages; // rounded down
        return localStage * pipeline + rank;
    }

    private int perRound() {
        return microbatches / count(pipeline, microbatches); // exact, see of
    }
}
