package dev.troupe.engine.fallback;

import dev.troupe.engine.Kernel;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.fallback.loop.Routing;
import dev.troupe.engine.router.Router;
import dev.troupe.engine.router.RowDraws;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Definitions of the kernels of experts. The products of an expert are the engine's, on ranges of the sorted rows. */
interface FallbackRouting extends Fallback {
    @Override
    default void route(Router router, Tensor logits, Tensor bias, Tensor scores, Tensor chosen, Tensor weights) {
        fallBack(Kernel.ROUTE, host -> Routing.forward(router, host.read(logits), host.readOrNull(bias),
                host.output(scores), host.idsOutput(chosen), host.output(weights), logits.shape().size(1),
                chosen.shape().size(1)));
    }

    @Override
    default void routeBackward(Router router, Tensor scores, Tensor chosen, Tensor dWeights, Tensor dScores,
            Tensor dLogits) {
        fallBack(Kernel.ROUTE_BACKWARD,
                host -> Routing.backward(router, host.read(scores), host.ids(chosen), host.read(dWeights),
                        host.readOrNull(dScores), host.output(dLogits), scores.shape().size(1),
                        chosen.shape().size(1)));
    }

    @Override
    default void routingTables(Tensor chosen, Tensor positions, Tensor segments, Tensor rows, Tensor places) {
        fallBack(Kernel.ROUTING_TABLES,
                host -> Routing.tables(host.ids(chosen), host.idsOrNull(positions), host.idsOutput(segments),
                        host.idsOutput(rows), host.idsOutput(places), chosen.shape().size(1)));
    }

    @Override
    default void gatherRows(Tensor x, Tensor rows, Tensor y) {
        fallBack(Kernel.GATHER_ROWS,
                host -> Routing.gather(host.read(x), host.ids(rows), host.output(y), y.shape().size(1)));
    }

    @Override
    default void combineRows(Tensor z, Tensor places, Tensor weights, Tensor y) {
        fallBack(Kernel.COMBINE_ROWS, host -> Routing.combine(host.read(z), host.ids(places),
                host.readOrNull(weights), host.output(y), places.shape().size(1), y.shape().size(1)));
    }

    @Override
    default void combineRowsBackward(Tensor weights, Tensor places, Tensor inner, Tensor dInner, Tensor dWeights) {
        fallBack(Kernel.COMBINE_ROWS_BACKWARD,
                host -> Routing.combineBackward(host.read(weights), host.ids(places), host.changed(inner),
                        host.changed(dInner), host.output(dWeights), inner.shape().size(1)));
    }

    @Override
    default void segmentMatmul(Tensor x, Tensor segments, List<Tensor> weights, boolean transposeWeights, Tensor y) {
        int[] first = onHost(segments);
        for (int expert = 0; expert < weights.size(); expert++) {
            int count = first[expert + 1] - first[expert];
            if (count > 0) {
                matmul(rows(x, first[expert], count), false, weights.get(expert), transposeWeights,
                        rows(y, first[expert], count), false);
            }
        }
    }

    @Override
    default void segmentMatmulBackward(Tensor dy, Tensor x, Tensor segments, List<Tensor> dWeights) {
        int[] first = onHost(segments);
        for (int expert = 0; expert < dWeights.size(); expert++) {
            int count = first[expert + 1] - first[expert];
            if (count > 0) {
                matmul(rows(dy, first[expert], count), true, rows(x, first[expert], count), false,
                        dWeights.get(expert), true);
            }
        }
    }

    private int[] onHost(Tensor ids) {
        int[] integers = new int[Math.toIntExact(ids.shape().elementCount())];
        copyToHost(ids, 0, MemorySegment.ofArray(integers));
        return integers;
    }

    private Tensor rows(Tensor matrix, int first, int count) {
        int columns = matrix.shape().size(1);
        return range(matrix, (long) first * columns, Shape.of(count, columns));
    }

    @Override
    default void placeChoices(RowDraws draws, int capacity, Tensor chosen, Tensor weights, Tensor positions,
            Tensor loads, int index) {
        fallBack(Kernel.PLACE_CHOICES,
                host -> host.changed(loads)[index] += Routing.place(
                        draws == null ? null : draws.ofRows(chosen.shape().size(0)), capacity, host.ids(chosen),
                        host.read(weights), host.idsOutput(positions), chosen.shape().size(1)));
    }

    @Override
    default void routerZLoss(Tensor logits, Tensor loads) {
        int e = logits.shape().size(1);
        fallBack(Kernel.ROUTER_Z_LOSS, host -> host.changed(loads)[2 * e] += Routing.zLoss(host.read(logits), e));
    }

    @Override
    default void routerZLossBackward(Tensor logits, double factor, Tensor dLogits) {
        fallBack(Kernel.ROUTER_Z_LOSS_BACKWARD, host -> Routing.zLossBackward(host.read(logits), factor,
                host.changed(dLogits), logits.shape().size(1)));
    }

    @Override
    default void addLoads(Tensor scores, Tensor chosen, Tensor loads) {
        fallBack(Kernel.ADD_LOADS, host -> Routing.addLoads(host.read(scores), host.ids(chosen), host.changed(loads),
                scores.shape().size(1)));
    }
}
