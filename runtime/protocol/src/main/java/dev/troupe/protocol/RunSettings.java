package dev.troupe.protocol;

import java.util.List;
import java.util.function.LongToDoubleFunction;

/**
 * What a run is to do.
 *
 * @param rankCount ranks that take part
 * @param firstStep steps that lie behind when the run starts: 0, or what a checkpoint holds
 * @param stepCount steps that lie behind when the run ends
 * @param learningRate the rate of each step, from 0
 * @param gradientClip the greatest global norm a gradient may have, or 0 for any
 * @param lossScale of the first step
 * @param validateEvery steps between two validations, or 0 for none
 * @param checkpointEvery steps between two checkpoints, or 0 for the one at the end only
 * @param savedStep the steps of the checkpoint that is in the run's directory already, or -1 for none
 * @param endsWithCheckpoint whether the state at the end is worth keeping
 * @param places the ranks that are restarted together, since a collective that one of them left is whole for none
 * @param mostRecoveries failures of one step that the run survives; a step that fails more often would fail for ever. 0
 *     if a failure ends it
 * @param stepsPerPass steps from one commit to the next: 1, or those of a pass where steps overlap; it divides all
 *     counts of steps above
 * @param stagesUpdateAlone whether stages update their weights by what is decided before a pass begins, all but the
 *     last time in it: there is no clipping and no loss scale, so that updates follow from the step alone
 */
public record RunSettings(int rankCount, long firstStep, long stepCount, LongToDoubleFunction learningRate,
        double gradientClip, LossScale lossScale, long validateEvery, long checkpointEvery, long savedStep,
        boolean endsWithCheckpoint, List<List<Integer>> places, int mostRecoveries, int stepsPerPass,
        boolean stagesUpdateAlone) {
    public RunSettings {
        if (stagesUpdateAlone && (gradientClip != 0 || lossScale.maySkip())) {
            throw new IllegalArgumentException(
                    "stages that update alone have no clipping and no loss scale, but found "
                            + gradientClip + " and " + lossScale);
        }
    }

    /** Settings of a run that does one step after the other. */
    public RunSettings(int rankCount, long firstStep, long stepCount, LongToDoubleFunction learningRate,
            double gradientClip, LossScale lossScale, long validateEvery, long checkpointEvery, long savedStep,
            boolean endsWithCheckpoint, List<List<Integer>> places, int mostRecoveries) {
        this(rankCount, firstStep, stepCount, learningRate, gradientClip, lossScale, validateEvery, checkpointEvery,
                savedStep, endsWithCheckpoint, places, mostRecoveries, 1, false);
    }

    /** The same for a run whose last checkpoint is one after {@code steps} steps. */
    public RunSettings savedAt(long steps) {
        return new RunSettings(rankCount, firstStep, stepCount, learningRate, gradientClip, lossScale, validateEvery,
                checkpointEvery, steps, endsWithCheckpoint, places, mostRecoveries, stepsPerPass, stagesUpdateAlone);
    }

    /**
     * Whether ranks keep what they are at each commit, so that what is due on the way is written from that, beside
     * training.
     */
    public boolean keepsSnapshots() {
        return mostRecoveries > 0;
    }

    /** Whether {@code stepsDone} is a multiple of {@code every}; a period of 0 stands for never. */
    public static boolean isDue(long every, long stepsDone) {
        return every > 0 && stepsDone % every == 0;
    }

    /** The ranks that are restarted if these fail. */
    public List<Integer> placesOf(List<Integer> ranks) {
        return ranks.stream().flatMap(rank -> placeOf(rank).stream()).distinct().sorted().toList();
    }

    /** The ranks that are restarted if one fails. */
    public List<Integer> placeOf(int rank) {
        return places.stream().filter(place -> place.contains(rank)).findFirst().orElseThrow();
    }
}
