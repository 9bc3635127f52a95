package dev.troupe.parallel;

/**
 * The two moves of a layer on the axis of tensor-parallel ranks: of the normed residual stream into the layer's computation,
 * and of its result back to the stream. Backwards execute the duals. Every layer either divides its computation, or each
 * rank does all of it.
 */
public record LayerMoves(ShardingMove enter, ShardingMove leave) {
    /**
     * Returns the moves of a layer.
     *
     * @param cutsRows whether each rank has some rows of the residual stream (Korthikanti et al. 2022)
     * @param isWhole whether each rank does the whole computation of the layer
     */
    public static LayerMoves of(boolean cutsRows, boolean isWhole) {
        ShardType stream = cutsRows ? ShardType.ROWS : ShardType.INVARIANT;
        return isWhole
                ? new LayerMoves(new ShardingMove(stream, ShardType.INVARIANT),
                        new ShardingMove(ShardType.INVARIANT, stream))
                : new LayerMoves(new ShardingMove(stream, ShardType.REPLICATED),
                        new ShardingMove(ShardType.PARTIAL, stream));
    }

    /** Returns whether each rank has some rows of the residual stream. */
    public boolean cutsRows() {
        return enter.from().equals(ShardType.ROWS);
    }

    /** Returns whether each rank does the whole computation. */
    public boolean isWhole() {
        return enter.to().equals(ShardType.INVARIANT);
    }
}
