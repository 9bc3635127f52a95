package dev.troupe.parallel;

/**
 * One rank's share in the work of a stage.
 *
 * @param group the ranks that share the stage
 * @param sharding their division of the layers; no effect in a group of one
 */
public record TensorShare(TensorGroup group, StreamSharding sharding) {
    /** The share of a rank that has the stage to itself. */
    public static final TensorShare ALL = new TensorShare(TensorGroup.ALONE, false);

    /** Creates a share in every layer, and perhaps in the rows of the residual stream. */
    public TensorShare(TensorGroup group, boolean cutsRows) {
        this(group, StreamSharding.of(cutsRows));
    }

    /** Returns whether a rank has only some rows of the residual stream. */
    public boolean cutsRows() {
        return sharding.cutsRows() && group.size() > 1;
    }

    /** Returns the moves of a layer of the model. */
    public LayerMoves moves(int layer) {
        return LayerMoves.of(cutsRows(), sharding.isWhole(layer));
    }
}
