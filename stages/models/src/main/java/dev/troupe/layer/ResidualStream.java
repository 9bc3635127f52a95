package dev.troupe.layer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.parallel.TensorGroup;
import dev.troupe.parallel.TensorShare;

/**
 * The residual stream as one rank of a tensor-parallel group has it, and the ways in and out of what the group computes
 * together (Shoeybi et al. 2019, Korthikanti et al. 2022). Every rank has all N rows; with sequence parallelism rank r has
 * the rows r N/t .. (r + 1) N/t - 1 of the flat [N x C], t ranks, whichever sequences they belong to. What the ranks
 * compute together always has all rows, since attention needs whole sequences.
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
        TensorShare share = context.share();
        engine = context.engine();
        pool = context.pool();
        group = share.group();
        cutsRows = share.cutsRows();
        allRows = context.activation(context.hidden());
        ownRows = cutsRows ? context.extent(length -> ownPart(allRows.of(length))) : allRows;
    }

    /** Exact: a microbatch has a number of rows that the ranks share out. */
    private Shape ownPart(Shape all) {
        return Shape.of(all.size(0) / group.size(), all.size(1));
    }

    /** The shapes of what this rank has of the stream. */
    public TensorPool.Extent extent() {
        return ownRows;
    }

    /** Which of all rows is the first that this rank has. */
    int firstRow(int length) {
        return cutsRows ? group.rank() * ownRows.of(length).size(0) : 0;
    }

    /** All rows of what each rank has some of: the same tensor, or another. Takes nothing over. */
    Tensor whole(Tensor own, int length) {
        if (!cutsRows) {
            return own;
        }
        Tensor whole = pool.take(allRows, length);
        group.allGather(own, whole);
        return whole;
    }

    /** All rows of what each rank has some of. Takes it over. */
    Tensor intoWhole(Tensor own, int length) {
        Tensor whole = whole(own, length);
        if (whole != own) {
            pool.give(own);
        }
        return whole;
    }

    /** This rank's part of the sum over the ranks. Takes over this rank's addend, which has all rows. */
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
     * The gradient that passes by a half of a block, for what passes through it to be added to.
     *
     * @param dy the gradient for the half's output
     * @param kept what the half's backward reads later: dy itself, or a tensor made from it
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
