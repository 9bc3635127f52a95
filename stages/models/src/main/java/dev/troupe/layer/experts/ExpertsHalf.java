package dev.troupe.layer.experts;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.router.Router;
import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.Half;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.Norm;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.TensorPool;
import dev.troupe.layer.rotary.GatedMlp;
import dev.troupe.model.spec.ExpertTraining;
import dev.troupe.model.spec.ParameterSpec;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The second half of a block with experts (Shazeer et al. 2017, Jiang et al. 2024): {@code y = x + sum of w_e f_e(h)} over
 * the k experts that the router chooses for a row, with {@code h = norm(x)}, each expert a gated MLP {@code f_e(h) = (silu(h
 * Wgate_e^T) * (h Wup_e^T)) Wdown_e^T}. No choice is dropped, whatever the load of an expert, unless {@link ExpertTraining}
 * has a capacity: then a forward that is trained places choices as GShard does. Shared experts, if there are any, are one
 * more gated MLP for every row (Dai et al. 2024, DeepSeekMoE).
 *
 * <p>N = B T rows, E experts, k choices of a row, C hidden size, I inner width of an expert: x and y [N x C], the
 * router's matrix [E x C], Wgate and Wup [I x C], Wdown [C x I]. Each of the t ranks of a group has the whole router, and of
 * every expert I/t rows of the first two and I/t columns of Wdown. So all ranks make the same choices, each computes a part
 * of the gradient for the weights w, and the router's gradient is the sum of their parts.
 *
 * <p>If R data-parallel ranks divide the experts, each has E/R of them and the whole router. It sends its sorted rows to the
 * ranks of their experts ({@link ExpertExchange}), and does everything else itself.
 */
public final class ExpertsHalf extends Half {
    private final TensorPool.Extent choiceShape;
    private final TensorPool.Extent rowShape;
    private final TensorPool.Extent sortedShape;
    /** The shapes of rows of this rank's experts: the sorted rows, or those that arrive here. */
    private final TensorPool.Extent expertRowShape;
    private final TensorPool.Extent innerShape;
    private final Shape segmentShape;
    private final RowRouter router;
    /** Null if there are no shared experts. */
    private final GatedMlp shared;
    private final ExpertMatrices matrices;
    /** Null if this rank has every expert. */
    private final ExpertExchange exchange;

    /** The matrices of an expert: gate [I x C], up [I x C], down [C x I]. */
    public record Expert(ParameterSpec gate, ParameterSpec up, ParameterSpec down) {
        Stream<ParameterSpec> parameters() {
            return Stream.of(gate, up, down);
        }
    }

    /**
     * The parameters of the half.
     *
     * @param norm of the stream
     * @param router the rule of the choice
     * @param routerWeights [E x C]
     * @param choiceBias [E], if the choice has a bias
     * @param perToken k, the experts of a row
     * @param experts of each its matrices
     * @param shared the shared experts, if there are any, as one
     * @param training the losses, the capacity and the update of the bias
     */
    public record Spec(Norm.Spec norm, Router router, ParameterSpec routerWeights, Optional<ParameterSpec> choiceBias,
            int perToken, List<Expert> experts, Optional<GatedMlp.Spec> shared, ExpertTraining training) {
        /** Returns all parameters, in the order of the published models. */
        public List<ParameterSpec> parameters() {
            return Stream.of(Stream.of(routerWeights), choiceBias.stream(),
                    experts.stream().flatMap(Expert::parameters),
                    shared.stream().flatMap(one -> one.parameters().stream()), norm.parameters().stream())
                    .flatMap(some -> some).toList();
        }
    }

    /**
     * Makes the half on a rank.
     *
     * @param block the block's number in the model, for dropout: the embedding is 0
     */
    public ExpertsHalf(LayerContext context, int block, Spec spec) {
        super(context, block, DropoutKey.Site.MLP_OUTPUT, spec.norm());
        router = new RowRouter(context, block, spec);
        shared = spec.shared().map(one -> new GatedMlp(context, one)).orElse(null);
        int experts = spec.experts().size();
        matrices = ExpertMatrices.of(context, spec.experts());
        exchange = context.experts().divides() ? new ExpertExchange(context, experts, spec.perToken()) : null;
        choiceShape = router.choiceShape();
        rowShape = context.perRow(spec.perToken());
        sortedShape = context.activation(spec.perToken(), context.hidden());
        int inner = matrices.inner();
        expertRowShape = exchange == null ? sortedShape : exchange.rows(context.hidden());
        innerShape = exchange == null ? context.activation(spec.perToken(), inner) : exchange.rows(inner);
        segmentShape = Shape.of(experts + 1);
    }

    @Override
    public List<Parameter> parameters() {
        return Stream.of(router.parameters(), matrices.parameters(),
                Stream.ofNullable(shared).flatMap(one -> one.parameters().stream()), norm.parameters().stream())
                .flatMap(some -> some).toList();
    }

    @Override
    public Pass newPass() {
        return new RoutedPass();
    }

    private final class RoutedPass extends Pass {
        // The decisions of the forward, which a replay reads: it never routes again.
        private final RowRouter.Pass decision = router.new Pass();
        private Tensor segments;
        /** The row of each sorted row. */
        private Tensor rows;
        private Tensor places;
        /** Null if this rank has every expert. */
        private ExpertExchange.Routes routes;
        /** The normed rows of this rank's experts, and their output gradients; null if this rank has every expert. */
        private Tensor arrived;
        private Tensor arrivedGradient;
        /** Its gradient from the first backward on. */
        private Tensor gate;
        private Tensor up;
        /** Multiplied by the weights from the first backward on. */
        private Tensor inner;
        private Tensor upGradient;
        /** Null if there are no shared experts. */
        private final GatedMlp.Pass ofShared = shared == null ? null : shared.new Pass();

        @Override
        protected void forward() {
            if (!decision.hasChosen()) {
                route();
            }
            Tensor rowsOfExperts = dispatched(normed);
            gate = takeRows(innerShape);
            engine.segmentMatmul(rowsOfExperts, expertSegments(), matrices.weights(matrices.gates()), true, gate);
            up = takeRows(innerShape);
            engine.segmentMatmul(rowsOfExperts, expertSegments(), matrices.weights(matrices.ups()), true, up);
            arrived = keptIfArrived(rowsOfExperts);
            gateUp();
            if (ofShared != null) {
                ofShared.forward(normed, microbatch);
            }
        }

        private void route() {
            Tensor positions = decision.choose(normed, microbatch);
            segments = pool.take(DataType.INT32, segmentShape);
            rows = pool.take(DataType.INT32, rowShape, microbatch.length());
            places = pool.take(DataType.INT32, choiceShape, microbatch.length());
            engine.routingTables(decision.chosen(), positions, segments, rows, places);
            pool.drop(positions);
            if (exchange != null) {
                routes = exchange.routes(segments);
            }
        }

        /** Returns the rows of an activation by expert; the caller gives them back. */
        private Tensor sorted(Tensor activation) {
            Tensor sorted = take(sortedShape);
            engine.gatherRows(activation, rows, sorted);
            return sorted;
        }

        /** Returns the rows of an activation for this rank's experts, from all ranks that divide them. */
        private Tensor dispatched(Tensor activation) {
            Tensor sorted = sorted(activation);
            if (routes == null) {
                return sorted;
            }
            Tensor taken = takeRows(expertRowShape);
            routes.toExperts(sorted, taken);
            pool.give(sorted);
            return taken;
        }

        /** Returns sorted rows with the results of all experts; takes over the results of this rank's experts. */
        private Tensor returned(Tensor rowsOfExperts) {
            if (routes == null) {
                return rowsOfExperts;
            }
            Tensor sorted = take(sortedShape);
            routes.toOrigins(rowsOfExperts, sorted);
            pool.give(rowsOfExperts);
            return sorted;
        }

        /** Frees rows that are sorted again at almost no cost; returns rows that came from other ranks. */
        private Tensor keptIfArrived(Tensor rowsOfExperts) {
            return routes == null ? pool.drop(rowsOfExperts) : rowsOfExperts;
        }

        private Tensor takeRows(TensorPool.Extent extent) {
            return pool.take(extent, routes == null ? microbatch.length() : routes.shape());
        }

        private Tensor expertSegments() {
            return routes == null ? segments : routes.segments();
        }

        private void gateUp() {
            inner = takeRows(innerShape);
            engine.swiGlu(gate, up, inner);
        }

        @Override
        protected Tensor projected() {
            Tensor ofExperts = takeRows(expertRowShape);
            engine.segmentMatmul(inner, expertSegments(), matrices.weights(matrices.downs()), true, ofExperts);
            Tensor outputs = returned(ofExperts);
            Tensor added = take(activation);
            engine.combineRows(outputs, places, decision.weights(), added);
            pool.give(outputs);
            if (ofShared != null) {
                Tensor addend = take(activation);
                ofShared.output(addend);
                engine.add(added, addend, added);
                pool.give(addend);
            }
            return stream.leave(added, microbatch.length());
        }

        @Override
        protected void dropRecomputableInner() {
            inner = pool.drop(inner);
            if (ofShared != null) {
                ofShared.dropRecomputable();
            }
        }

        @Override
        protected Tensor backwardInner() {
            if (inner == null) {
                gateUp();
            }
            upGradient = takeRows(innerShape);
            Tensor rowsOfExperts = dispatched(outputGradient);
            engine.segmentMatmul(rowsOfExperts, expertSegments(), matrices.weights(matrices.downs()), false,
                    upGradient);
            arrivedGradient = keptIfArrived(rowsOfExperts);
            Tensor weightGradient = pool.takeFloats(choiceShape, microbatch.length());
            if (routes == null) {
                engine.combineRowsBackward(decision.weights(), places, inner, upGradient, weightGradient);
            } else {
                routes.combineRowsBackward(decision.weights(), places, inner, upGradient, weightGradient);
            }
            // Both gradients overwrite tensors that the backward for the weights does not read.
            engine.swiGluBackward(gate, up, upGradient, gate, upGradient);
            up = pool.drop(up);
            Tensor dNormed = backwardExperts();
            decision.addBackwardInput(weightGradient, dNormed);
            pool.give(weightGradient);
            if (ofShared != null) {
                Tensor addend = take(activation);
                ofShared.backwardInput(outputGradient, addend);
                engine.add(dNormed, addend, dNormed);
                pool.give(addend);
            }
            return dNormed;
        }

        private Tensor backwardExperts() {
            Tensor dRows = takeRows(expertRowShape);
            engine.segmentMatmul(gate, expertSegments(), matrices.weights(matrices.gates()), false, dRows);
            Tensor addend = takeRows(expertRowShape);
            engine.segmentMatmul(upGradient, expertSegments(), matrices.weights(matrices.ups()), false, addend);
            engine.add(dRows, addend, dRows);
            pool.give(addend);
            Tensor dSorted = returned(dRows);
            Tensor dNormed = take(activation);
            engine.combineRows(dSorted, places, null, dNormed);
            pool.give(dSorted);
            return dNormed;
        }

        @Override
        protected void backwardInnerWeight() {
            if (routes == null) {
                Tensor sorted = sorted(outputGradient);
                matrices.backward(engine, pool, sorted, inner, segments, matrices.downs());
                engine.gatherRows(normed, rows, sorted);
                backwardGateUp(sorted);
                pool.give(sorted);
            } else {
                matrices.backward(engine, pool, arrivedGradient, inner, expertSegments(), matrices.downs());
                backwardGateUp(arrived);
            }
            decision.backwardWeight(normed);
            if (ofShared != null) {
                ofShared.backwardWeight(normed, outputGradient);
            }
        }

        private void backwardGateUp(Tensor normedRows) {
            matrices.backward(engine, pool, gate, normedRows, expertSegments(), matrices.gates());
            matrices.backward(engine, pool, upGradient, normedRows, expertSegments(), matrices.ups());
        }

        @Override
        protected void releaseInner() {
            arrived = pool.drop(arrived);
            gate = pool.drop(gate);
            up = pool.drop(up);
            inner = pool.drop(inner);
            if (ofShared != null) {
                ofShared.release();
            }
        }

        @Override
        protected void releaseDecisions() {
            decision.release();
            segments = pool.drop(segments);
            rows = pool.drop(rows);
            places = pool.drop(places);
            if (routes != null) {
                routes.release();
                routes = null;
            }
        }

        @Override
        protected void releaseInnerGradients() {
            arrivedGradient = pool.drop(arrivedGradient);
            upGradient = pool.drop(upGradient);
            decision.releaseGradients();
            if (ofShared != null) {
                ofShared.releaseGradients();
            }
        }
    }
}
