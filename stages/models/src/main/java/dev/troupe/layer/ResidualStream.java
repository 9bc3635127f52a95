package dev.troupe.layer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorShare;

/**
 * The residual stream of one rank of a tensor-parallel group, with the conversions to and from the group's common
 * computation (Shoeybi et al. 2019, Korthikanti et al. 2022). Every rank has all N rows. With sequence parallelism rank r of
 * t has the rows r N/t .. (r + 1) N/t - 1 of the flat [N x C], regardless of sequences. The common computation always has
 * all rows, since attention needs whole sequences.
 *
 * <p>N = B T rows of microbatch times sequence, C hidden size. The argument {@code length} is the microbatch's T.
 */
public final class ResidualStream {
    private final Engine engine;
    private final TensorPool pool;
    private final TensorGroup group;
    private final boolean cutsRows;
    private final TensorPool.Extent allRows;
    private final TensorPool.Extent ownRows;

    public ResidualStream(LayerContext context) {
        this(context, context.share());
    }

    private ResidualStream(LayerContext context, TensorShare share) {
        engine = context.engine();
        pool = context.pool();
        group = share.group();
        cutsRows = share.cutsRows();
        allRows = context.activation(context.hidden());
        ownRows = cutsRows ? context.extent(length -> ownPart(allRows.of(length))) : allRows;
    }

    /** Returns the stream of a group that divides its rows, even if the group of this context does not. */
    public static ResidualStream ofOwnRows(LayerContext context) {
        return new ResidualStream(context, new TensorShare(context.share().group(), true));
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

    /** Returns all rows, gathered from the ranks; may be the same tensor. Does not take it over. */
    Tensor whole(Tensor own, int length) {
        if (!cutsRows) {
            return own;
        }
        Tensor whole = pool.take(allRows, length);
        group.allGather(own, whole);
        return whole;
    }

    /** As {@link #whole}, but takes the rank's own rows over. */
    public Tensor intoWhole(Tensor own, int length) {
        Tensor whole = whole(own, length);
        if (whole != own) {
            pool.give(own);
        }
        return whole;
    }

    /** Returns a copy of this rank's rows; takes over all rows, of which every rank has the same. */
    public Tensor intoOwn(Tensor whole, int length) {
        Tensor own = pool.take(ownRows, length);
        engine.copy(engine.range(whole, firstRow(length) * (long) own.shape().size(1), own.shape()), own);
        pool.give(whole);
        return own;
    }

    /** Returns this rank's part of the sum over the ranks. Takes over this rank's addend, which has all rows. */
    public Tensor intoSum(Tensor addend, int length) {
        if (!cutsRows) {
            group.allReduce(addend);
            return addend;
        }
        Tensor own = pool.take(ownRows, length);
        group.reduceScatter(addend, own);
        pool.give(addend);
        return own;
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
