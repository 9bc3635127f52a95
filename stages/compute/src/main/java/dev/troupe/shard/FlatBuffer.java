package dev.troupe.shard;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.parallel.DataShare;
import dev.troupe.parallel.Zero;
import dev.troupe.shard.BufferLayout.Piece;

/**
 * A flat buffer with one number for each weight of a stage.
 *
 * @param tensor all numbers, or this rank's share
 * @param extent the part that the tensor has
 */
public record FlatBuffer(Engine engine, Tensor tensor, Extent extent) {
    /** The part of a buffer that a rank has. */
    enum Extent {
        /** Everything. */
        ALL,
        /** Everything, but after the sum of gradients only the rank's share is valid. */
        SHARE_IN_PLACE,
        /** The rank's share alone. */
        SHARE;

        static Extent ofGradients(DataShare data) {
            if (data.shares(Zero.GRADIENTS)) {
                return SHARE;
            }
            return data.shares(Zero.OPTIMIZER) ? SHARE_IN_PLACE : ALL;
        }
    }

    /** Returns a range of the buffer; if the buffer is a share, a range inside it. */
    public Tensor part(Piece piece) {
        return part(piece, Shape.row(piece.count()));
    }

    public Tensor part(Piece piece, Shape shape) {
        return engine.range(tensor, extent == Extent.SHARE ? piece.inShare() : piece.first(), shape);
    }
}
