package dev.troupe.parallel;

/**
 * One rank's share in the work of a stage.
 *
 * @param group the ranks that share the stage
 * @param sequence whether norms, residuals and what crosses the stage's borders are shared out too, by rows (sequence
 *     parallelism, Korthikanti et al. 2022); in a group of one it says nothing
 */
public record TensorShare(TensorGroup group, boolean sequence) {
    /** The share of a rank that has the stage to itself. */
    public static final TensorShare ALL = new TensorShare(TensorGroup.ALONE, false);

    /** Whether a rank has some rows of the residual stream alone. */
    public boolean cutsRows() {
        return sequence && group.size() > 1;
    }
}
