package dev.troupe.parallel;

/**
 * One rank's share in the work of a stage.
 *
 * @param group the ranks that share the stage
 * @param sequence whether norms, residuals and boundary tensors are divided too, by rows (sequence parallelism, Korthikanti
 *     et al. 2022); no effect in a group of one
 */
public record TensorShare(TensorGroup group, boolean sequence) {
    /** The share of a rank that has the stage to itself. */
    public static final TensorShare ALL = new TensorShare(TensorGroup.ALONE, false);

    /** Returns whether a rank has only some rows of the residual stream. */
    public boolean cutsRows() {
        return sequence && group.size() > 1;
    }
}
