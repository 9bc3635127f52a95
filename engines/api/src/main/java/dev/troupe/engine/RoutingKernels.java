package dev.troupe.engine;

import dev.troupe.engine.router.Router;
import dev.troupe.engine.router.RowDraws;
import java.util.List;

/**
 * Kernels of mixtures of experts (Shazeer et al. 2017): the choice of experts for each row, rows sorted by expert and back,
 * and products with the matrices of the experts. The contract of every kernel is {@link Engine}'s. Letters: N rows, E
 * experts, k choices of a row, R = N k choices in all, C, K and M any size.
 *
 * <p>Sorted rows: expert e has the rows {@code segments[e]} to {@code segments[e + 1] - 1} of R, perhaps none. All tables of
 * a choice come from {@link #route} and {@link #routingTables}; their contents are not checked.
 */
public interface RoutingKernels {
    /**
     * Chooses experts for each row by the rule of a router.
     *
     * @param logits float tensor [N x E]
     * @param bias float tensor [E], added for the choice alone; null for none
     * @param scores float tensor [N x E]
     * @param chosen INT32 [N x k], k at most E: the experts of each row, the preferred first
     * @param weights float tensor [N x k]: the weights of the chosen experts
     */
    void route(Router router, Tensor logits, Tensor bias, Tensor scores, Tensor chosen, Tensor weights);

    /**
     * The gradient for the logits of {@link #route}; the choice has none.
     *
     * @param dWeights float tensor [N x k]
     * @param dScores float tensor [E]: a further gradient for the scores, the same in each row; null for none
     * @param dLogits product tensor [N x E]
     */
    void routeBackward(Router router, Tensor scores, Tensor chosen, Tensor dWeights, Tensor dScores,
            Tensor dLogits);

    /**
     * Sorts choices by expert; choices of the same expert keep their order, or are in the order of their positions. All are
     * INT32.
     *
     * @param chosen [N x k], from 0 to E - 1
     * @param positions [N x k] of {@link #placeChoices}; null if no choice is dropped
     * @param segments [E + 1]: the first sorted row of each expert, then the number of choices that are kept
     * @param rows [R]: the row n of each sorted row; 0 after the last that is kept
     * @param places [N x k]: the sorted row of each choice, or -1
     */
    void routingTables(Tensor chosen, Tensor positions, Tensor segments, Tensor rows, Tensor places);

    /**
     * Gives choices positions in buffers of {@code capacity} rows an expert (Lepikhin et al. 2020, GShard, algorithm 1).
     * First come the first choices of all rows, in the order of rows: the position of one is the number of first choices of
     * that expert before it, including those without room. Then come the second choices, and so on: the position of one is
     * the number of first choices, and of later ones with room. A choice without room is dropped.
     *
     * @param draws of each row a number from 0 to below 1: a choice after the first is dropped too unless 2 times its weight
     *     is above it, and takes no room; null if all are kept
     * @param chosen INT32 [N x k]
     * @param weights float tensor [N x k]
     * @param positions INT32 [N x k]: from 0 to {@code capacity} - 1, or -1 for a dropped choice
     * @param loads float vector; {@code loads[index]} grows by the number of dropped choices
     */
    void placeChoices(RowDraws draws, int capacity, Tensor chosen, Tensor weights, Tensor positions, Tensor loads,
            int index);

    /** {@code y[r] = x[rows[r]]}: x [any x C] and y [R x C] product tensors, rows INT32 [R]. */
    void gatherRows(Tensor x, Tensor rows, Tensor y);

    /**
     * {@code y[n] = sum over j of weights[n, j] z[places[n, j]]}, j ascending, without those at -1; without weights if these
     * are null. It is the gradient of {@link #gatherRows} too.
     *
     * @param z product tensor [R x C]
     * @param places INT32 [N x k]
     * @param weights float tensor [N x k]; may be null
     * @param y product tensor [N x C]
     */
    void combineRows(Tensor z, Tensor places, Tensor weights, Tensor y);

    /**
     * The gradient of {@link #combineRows} for the weights, if a product precedes it: {@code z = inner W^T}. In place of z
     * it reads inner and the gradient for inner of a weight of 1, {@code dy[n] W}, so that no tensor of z's size is kept:
     * {@code dWeights[n, j]} is the product of both rows at {@code places[n, j]}. Then it multiplies both rows by
     * {@code weights[n, j]}: the gradient for inner, and the rows with which dy gives the gradient for W. At a place of -1
     * the result is 0.
     *
     * @param inner product tensor [R x K], changed in place
     * @param dInner product tensor [R x K], changed in place
     */
    void combineRowsBackward(Tensor weights, Tensor places, Tensor inner, Tensor dInner, Tensor dWeights);

    /**
     * {@code y[r] = x[r] op(weights[e])} for the sorted rows of each expert e; product tensors.
     *
     * @param x [R x K]
     * @param segments INT32 [E + 1]
     * @param weights of each expert, [K x M], or [M x K] when transposed
     * @param y [R x M]
     */
    void segmentMatmul(Tensor x, Tensor segments, List<Tensor> weights, boolean transposeWeights, Tensor y);

    /**
     * {@code dWeights[e] += dy^T x} over the sorted rows of each expert e. An expert without rows is left as it is.
     *
     * @param dy product tensor [R x M]
     * @param x product tensor [R x K]
     * @param segments INT32 [E + 1]
     * @param dWeights float tensors [M x K]
     */
    void segmentMatmulBackward(Tensor dy, Tensor x, Tensor segments, List<Tensor> dWeights);

    /**
     * Adds the square of the logarithm of the sum of exponentials of each row to {@code loads[2 E]} (Zoph et al. 2022,
     * ST-MoE, equation 5).
     *
     * @param logits float tensor [N x E]
     * @param loads float tensor [2 E + 2]
     */
    void routerZLoss(Tensor logits, Tensor loads);

    /**
     * Adds {@code factor} times the gradient of {@link #routerZLoss} for the logits.
     *
     * @param dLogits product tensor [N x E]
     */
    void routerZLossBackward(Tensor logits, double factor, Tensor dLogits);

    /**
     * Adds the load of each expert: {@code loads[e]} grows by the number of its choices, and {@code loads[E + e]} by the sum
     * of its scores.
     *
     * @param loads float tensor [2 E]
     */
    void addLoads(Tensor scores, Tensor chosen, Tensor loads);
}
