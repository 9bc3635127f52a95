package dev.troupe.shard;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.shard.BufferLayout.Piece;

/**
 * One number for each weight of a stage.
 *
 * @param tensor all of them, or those of this rank's share
 * @param extent which
 */
public record FlatBuffer(Engine engine, Tensor tensor, Extent extent) {
    /** The part of a buffer that a rank has. */
    enum Extent {
        /** Everything. */
        ALL,
        /** Everything, but once gradients are added up only what is in the rank's share counts. */
        SHARE_IN_PLACE,
        /** The rank's share alone. */
        SHARE
    }

    /** A range of the buffer; of a share, one that is in it. */
    public Tensor part(Piece piece) {
        return part(piece, Shape.row(piece.count()));
    }

    /** A range of the buffer of this shape. */
    public Tensor part(Piece piece, Shape shape) {
        return engine.range(tensor, extent == Extent.SHARE ? piece.inShare() : piece.first(), shape);
    }
}
