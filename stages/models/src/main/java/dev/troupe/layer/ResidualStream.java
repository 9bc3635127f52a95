package dev.troupe.layer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.parallel.LayerMoves;
import dev.troupe.parallel.ShardingMove.Collective;
import dev.troupe.parallel.TensorGroup;

/**
 * The residual stream of one rank of a tensor-parallel group, with the moves of one layer to and from its computation
 * (Shoeybi et al. 2019, Korthikanti et al. 2022). Every rank has all N rows. With sequence parallelism rank r of t has the
 * rows r N/t .. (r + 1) N/t - 1 of the flat [N x C], regardless of sequences. The computation always has all rows, since
 * attention needs whole sequences.
 *
 * <p>N = B T rows of microbatch times sequence, C hidden size. The argument {@code length} is the microbatch's T.
 */
public final class ResidualStream {
    private final Engine engine;
    private final TensorPool pool;
    private final TensorGroup group;
    private final boolean cutsRows;
    private final Collective enter;
    private final Collective enterBackward;
    private final Collective leave;
    private final Collective leaveBackward;
    private final TensorPool.Extent allRows;
    private final TensorPool.Extent ownRows;

    public ResidualStream(LayerContext context) {
        this(context, context.moves());
    }

    private ResidualStream(LayerContext context, LayerMoves moves) {
        engine = context.engine();
        pool = context.pool();
        group = context.share().group();
        cutsRows = moves.cutsRows();
        enter = moves.enter().collective();
        enterBackward = moves.enter().dual().collective();
        leave = moves.leave().collective();
        leaveBackward = moves.leave().dual().collective();
        allRows = context.activation(context.hidden());
        ownRows = cutsRows ? context.extent(length -> ownPart(allRows.of(length))) : allRows;
    }

    /** Returns the stream of a group that divides its rows, even if the group of this context does not. */
    public static ResidualStream ofOwnRows(LayerContext context) {
        return new ResidualStream(context, LayerMoves.of(true, true));
    }

    /** Exact: the ranks can share the rows of a microbatch out evenly. */
    private Shape ownPart(Shape all) {
        return Shape.of(all.size(0) / group.size(), all.size(1));
    }

    /** Returns the shapes of this rank's part of the stream. */
    public TensorPool.Extent extent() {
        return ownRows;
    }

    int firstRow(int length) {
        return cutsRows ? group.rank() * ownRows.of(length).size(0) : 0;
    }

    /** Returns the input of the computation; takes over this rank's part of the stream. */
    public Tensor enter(Tensor own, int length) {
        return moved(enter, own, true, length);
    }

    /** Returns this rank's part of the gradient for the stream; takes over the gradient for the computation's input. */
    Tensor enterBackward(Tensor gradient, int length) {
        return moved(enterBackward, gradient, true, length);
    }

    /** Returns this rank's part of the result in the stream; takes over the result of its computation, of all rows. */
    public Tensor leave(Tensor result, int length) {
        return moved(leave, result, true, length);
    }

    /**
     * Returns the gradient for the result of the computation; may be the same tensor.
     *
     * @param own this rank's part of the gradient for the stream
     * @param takesOver whether {@code own} is given back if the result is another tensor
     */
    Tensor leaveBackward(Tensor own, boolean takesOver, int length) {
        return moved(leaveBackward, own, takesOver, length);
    }

    private Tensor moved(Collective collective, Tensor tensor, boolean takesOver, int length) {
        return switch (collective) {
            case NONE -> tensor;
            case ALL_REDUCE -> {
                group.allReduce(tensor);
                yield tensor;
            }
            case ALL_GATHER -> {
                Tensor whole = pool.take(allRows, length);
                group.allGather(tensor, whole);
                yield instead(whole, tensor, takesOver);
            }
            case REDUCE_SCATTER -> {
                Tensor own = pool.take(ownRows, length);
                group.reduceScatter(tensor, own);
                yield instead(own, tensor, takesOver);
            }
            case SLICE -> {
                Tensor own = pool.take(ownRows, length);
                Shape shape = ownRows.of(length);
                engine.copy(engine.range(tensor, group.rank() * shape.elementCount(), shape), own);
                yield instead(own, tensor, takesOver);
            }
            case PAD, FIRST, ALL_TO_ALL ->
                throw new IllegalArgumentException("no layer moves its stream by " + collective.word());
        };
    }

    private Tensor instead(Tensor result, Tensor tensor, boolean takesOver) {
        if (takesOver) {
            pool.give(tensor);
        }
        return result;
    }

    /**
     * Returns the gradient of the residual connection of a half, to which the half adds its own.
     *
     * @param dy the gradient for the half's output
     * @param kept the tensor that the half's backward reads later: dy itself or another one
     */
    Tensor pastHalf(Tensor dy, Tensor kept, int length) {
        if (kept != dy) {
            return dy;
        }
        Tensor dx = pool.take(ownRows, length);
        engine.copy(dy, dx);
        return dx;
    }
}
