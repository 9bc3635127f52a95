package dev.troupe.protocol;

import java.util.List;
import java.util.function.LongToDoubleFunction;

/**
 * The settings of a run.
 *
 * @param rankCount ranks that take part
 * @param firstStep steps done at the start of the run; above 0 if it resumes a checkpoint
 * @param stepCount steps done at the end of the run
 * @param learningRate the rate of each step, from 0
 * @param gradientClip the largest global norm of the gradients; 0 for no limit
 * @param validateEvery steps between two validations, or 0 for none
 * @param checkpointEvery steps between two checkpoints, or 0 for the one at the end only
 * @param savedStep the steps done of the checkpoint that the run's directory has at the start; -1 for none
 * @param places the groups of ranks that restart together, since a collective that loses a member is incomplete for all
 * @param mostRecoveries most failures within one step that the run survives; 0 if the first failure ends it
 * @param stepsPerPass steps from one commit to the next: 1, or the steps of a pass if they overlap; a divisor of all counts
 *     above
 * @param stagesUpdateAlone whether all updates of a pass but the last are decided before it begins; this excludes clipping
 *     and a loss scale, so an update depends on the step's number alone
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

    /** Creates settings without overlapping steps. */
    public RunSettings(int rankCount, long firstStep, long stepCount, LongToDoubleFunction learningRate,
            double gradientClip, LossScale lossScale, long validateEvery, long checkpointEvery, long savedStep,
            boolean endsWithCheckpoint, List<List<Integer>> places, int mostRecoveries) {
        this(rankCount, firstStep, stepCount, learningRate, gradientClip, lossScale, validateEvery, checkpointEvery,
                savedStep, endsWithCheckpoint, places, mostRecoveries, 1, false);
    }

    /** Returns these settings with {@code steps} as the last checkpoint. */
    public RunSettings savedAt(long steps) {
        return new RunSettings(rankCount, firstStep, stepCount, learningRate, gradientClip, lossScale, validateEvery,
                checkpointEvery, steps, endsWithCheckpoint, places, mostRecoveries, stepsPerPass, stagesUpdateAlone);
    }

    /** Returns whether ranks keep a snapshot at each commit, from which checkpoints are written during training. */
    public boolean keepsSnapshots() {
        return mostRecoveries > 0;
    }

    /** Returns whether {@code stepsDone} is a multiple of {@code every}; a period of 0 means never. */
    public static boolean isDue(long every, long stepsDone) {
        return every > 0 && stepsDone % every == 0;
    }

    /** Returns the ranks to restart if these fail. */
    public List<Integer> placesOf(List<Integer> ranks) {
        return ranks.stream().flatMap(rank -> placeOf(rank).stream()).distinct().sorted().toList();
    }

    public List<Integer> placeOf(int rank) {
        return places.stream().filter(place -> place.contains(rank)).findFirst().orElseThrow();
    }
}
