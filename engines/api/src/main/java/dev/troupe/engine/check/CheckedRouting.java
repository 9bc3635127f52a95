package dev.troupe.engine.check;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Kernel;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.router.Router;
import dev.troupe.engine.router.RowDraws;
import java.util.ArrayList;
import java.util.List;

/** The checks of the operands of routing to experts. */
abstract class CheckedRouting extends CheckedTokens {
    CheckedRouting(Engine engine) {
        super(engine);
    }

    @Override
    public final void route(Router router, Tensor logits, Tensor bias, Tensor scores, Tensor chosen,
            Tensor weights) {
        Operands check = of(Kernel.ROUTE);
        CheckedTensor in = check.floatMatrix("logits", logits);
        CheckedTensor probabilities = check.like("scores", scores, in);
        CheckedTensor choice = check.choices("chosen", chosen, in.size(0), in.size(1));
        CheckedTensor out = check.floatMatrix("weights", weights, in.size(0), choice.size(1));
        CheckedTensor added = bias == null ? null : check.vector("bias", bias, in.size(1));
        check.apart("scores", probabilities, in);
        check.apart("weights", out, in, probabilities);
        long begun = hook.begins(Kernel.ROUTE);
        engine.route(router, in.own(), ownOrNull(added), probabilities.own(), choice.own(),
                out.own());
        hook.ended(Kernel.ROUTE, begun, probabilities);
    }

    @Override
    public final void routeBackward(Router router, Tensor scores, Tensor chosen, Tensor dWeights, Tensor dScores,
            Tensor dLogits) {
        Operands check = of(Kernel.ROUTE_BACKWARD);
        CheckedTensor probabilities = check.floatMatrix("scores", scores);
        int rows = probabilities.size(0);
        int experts = probabilities.size(1);
        CheckedTensor choice = check.choices("chosen", chosen, rows, experts);
        CheckedTensor dOut = check.floatMatrix("dWeights", dWeights, rows, choice.size(1));
        CheckedTensor further = dScores == null ? null : check.vector("dScores", dScores, experts);
        CheckedTensor dIn = check.matrix("dLogits", dLogits, rows, experts);
        check.apart("dLogits", dIn, probabilities, dOut);
        if (further != null) {
            check.apart("dLogits", dIn, further);
        }
        long begun = hook.begins(Kernel.ROUTE_BACKWARD);
        engine.routeBackward(router, probabilities.own(), choice.own(), dOut.own(),
                ownOrNull(further), dIn.own());
        hook.ended(Kernel.ROUTE_BACKWARD, begun, dIn);
    }

    @Override
    public final void routingTables(Tensor chosen, Tensor positions, Tensor segments, Tensor rows, Tensor places) {
        Operands check = of(Kernel.ROUTING_TABLES);
        CheckedTensor choice = check.choices("chosen", chosen);
        CheckedTensor first = check.ids("segments", segments);
        CheckedTensor sorted = check.ids("rows", rows, Math.multiplyExact(choice.size(0), choice.size(1)));
        CheckedTensor place = check.like("places", places, choice);
        CheckedTensor position = positions == null ? null : check.like("positions", positions, choice);
        check.apart("segments", first, choice);
        check.apart("rows", sorted, choice, first);
        check.apart("places", place, choice, first, sorted);
        long begun = hook.begins(Kernel.ROUTING_TABLES);
        engine.routingTables(choice.own(), ownOrNull(position), first.own(), sorted.own(),
                place.own());
        hook.ended(Kernel.ROUTING_TABLES, begun, first);
    }

    @Override
    public final void gatherRows(Tensor x, Tensor rows, Tensor y) {
        Operands check = of(Kernel.GATHER_ROWS);
        CheckedTensor in = check.matrix("x", x);
        CheckedTensor from = check.ids("rows", rows);
        CheckedTensor out = check.matrix("y", y, from.size(0), in.size(1));
        check.apart("y", out, in);
        long begun = hook.begins(Kernel.GATHER_ROWS);
        engine.gatherRows(in.own(), from.own(), out.own());
        hook.ended(Kernel.GATHER_ROWS, begun, out);
    }

    @Override
    public final void combineRows(Tensor z, Tensor places, Tensor weights, Tensor y) {
        Operands check = of(Kernel.COMBINE_ROWS);
        CheckedTensor place = check.choices("places", places);
        int rows = place.size(0);
        CheckedTensor out = check.matrix("y", y);
        CheckedTensor in = check.matrix("z", z, Math.multiplyExact(rows, place.size(1)), out.size(1));
        check.matrix("y", y, rows, out.size(1));
        CheckedTensor factor = weights == null ? null : check.floatMatrix("weights", weights, rows, place.size(1));
        check.apart("y", out, in);
        if (factor != null) {
            check.apart("y", out, factor);
        }
        long begun = hook.begins(Kernel.COMBINE_ROWS);
        engine.combineRows(in.own(), place.own(), ownOrNull(factor), out.own());
        hook.ended(Kernel.COMBINE_ROWS, begun, out);
    }

    @Override
    public final void combineRowsBackward(Tensor weights, Tensor places, Tensor inner, Tensor dInner,
            Tensor dWeights) {
        Operands check = of(Kernel.COMBINE_ROWS_BACKWARD);
        CheckedTensor place = check.choices("places", places);
        CheckedTensor factor = check.floatMatrix("weights", weights, place.size(0), place.size(1));
        CheckedTensor in = check.matrix("inner", inner);
        check.matrix("inner", inner, Math.multiplyExact(place.size(0), place.size(1)), in.size(1));
        CheckedTensor dIn = check.like("dInner", dInner, in);
        CheckedTensor dFactor = check.like("dWeights", dWeights, factor);
        check.apart("inner", in, factor, dIn);
        check.apart("dInner", dIn, factor);
        check.apart("dWeights", dFactor, factor, in, dIn);
        long begun = hook.begins(Kernel.COMBINE_ROWS_BACKWARD);
        engine.combineRowsBackward(factor.own(), place.own(), in.own(), dIn.own(), dFactor.own());
        hook.ended(Kernel.COMBINE_ROWS_BACKWARD, begun, dFactor);
    }

    @Override
    public final void segmentMatmul(Tensor x, Tensor segments, List<Tensor> weights, boolean transposeWeights,
            Tensor y) {
        Operands check = of(Kernel.SEGMENT_MATMUL);
        CheckedTensor in = check.matrix("x", x);
        CheckedTensor out = check.matrix("y", y);
        check.matrix("y", y, in.size(0), out.size(1));
        CheckedTensor first = check.ids("segments", segments, check.experts(weights) + 1);
        check.apart("y", out, in);
        List<Tensor> own = new ArrayList<>(weights.size());
        for (Tensor weight : weights) {
            CheckedTensor one = check.matrix("weights", weight, transposeWeights ? out.size(1) : in.size(1),
                    transposeWeights ? in.size(1) : out.size(1));
            check.apart("y", out, one);
            own.add(one.own());
        }
        long begun = hook.begins(Kernel.SEGMENT_MATMUL);
        engine.segmentMatmul(in.own(), first.own(), own, transposeWeights, out.own());
        hook.multiplied(Kernel.SEGMENT_MATMUL, out, in.size(1));
        hook.ended(Kernel.SEGMENT_MATMUL, begun, out);
    }

    @Override
    public final void segmentMatmulBackward(Tensor dy, Tensor x, Tensor segments, List<Tensor> dWeights) {
        Operands check = of(Kernel.SEGMENT_MATMUL_BACKWARD);
        CheckedTensor dOut = check.matrix("dy", dy);
        CheckedTensor in = check.matrix("x", x);
        check.matrix("x", x, dOut.size(0), in.size(1));
        CheckedTensor first = check.ids("segments", segments, check.experts(dWeights) + 1);
        List<Tensor> own = new ArrayList<>(dWeights.size());
        for (Tensor dWeight : dWeights) {
            CheckedTensor one = check.floatMatrix("dWeights", dWeight, dOut.size(1), in.size(1));
            check.apart("dWeights", one, dOut, in);
            own.add(one.own());
        }
        long begun = hook.begins(Kernel.SEGMENT_MATMUL_BACKWARD);
        engine.segmentMatmulBackward(dOut.own(), in.own(), first.own(), own);
        hook.multiplied(Kernel.SEGMENT_MATMUL_BACKWARD, dWeights.getFirst(), in.size(0));
        hook.ended(Kernel.SEGMENT_MATMUL_BACKWARD, begun, dWeights.getFirst());
    }

    @Override
    public final void placeChoices(RowDraws draws, int capacity, Tensor chosen, Tensor weights, Tensor positions,
            Tensor loads, int index) {
        Operands check = of(Kernel.PLACE_CHOICES);
        CheckedTensor choice = check.choices("chosen", chosen);
        CheckedTensor factor = check.floatMatrix("weights", weights, choice.size(0), choice.size(1));
        CheckedTensor position = check.like("positions", positions, choice);
        CheckedTensor out = check.element("loads", loads, index);
        check.apart("positions", position, choice);
        check.apart("loads", out, factor);
        long begun = hook.begins(Kernel.PLACE_CHOICES);
        engine.placeChoices(draws, capacity, choice.own(), factor.own(), position.own(), out.own(), index);
        hook.ended(Kernel.PLACE_CHOICES, begun, position);
    }

    @Override
    public final void routerZLoss(Tensor logits, Tensor loads) {
        Operands check = of(Kernel.ROUTER_Z_LOSS);
        CheckedTensor in = check.floatMatrix("logits", logits);
        CheckedTensor out = check.vector("loads", loads, Math.addExact(Math.multiplyExact(2, in.size(1)), 2));
        check.apart("loads", out, in);
        long begun = hook.begins(Kernel.ROUTER_Z_LOSS);
        engine.routerZLoss(in.own(), out.own());
        hook.ended(Kernel.ROUTER_Z_LOSS, begun, out);
    }

    @Override
    public final void routerZLossBackward(Tensor logits, double factor, Tensor dLogits) {
        Operands check = of(Kernel.ROUTER_Z_LOSS_BACKWARD);
        CheckedTensor in = check.floatMatrix("logits", logits);
        CheckedTensor out = check.matrix("dLogits", dLogits, in.size(0), in.size(1));
        check.apart("dLogits", out, in);
        long begun = hook.begins(Kernel.ROUTER_Z_LOSS_BACKWARD);
        engine.routerZLossBackward(in.own(), factor, out.own());
        hook.ended(Kernel.ROUTER_Z_LOSS_BACKWARD, begun, out);
    }

    @Override
    public final void addLoads(Tensor scores, Tensor chosen, Tensor loads) {
        Operands check = of(Kernel.ADD_LOADS);
        CheckedTensor probabilities = check.floatMatrix("scores", scores);
        CheckedTensor choice = check.choices("chosen", chosen, probabilities.size(0), probabilities.size(1));
        CheckedTensor out = check.vector("loads", loads, Math.multiplyExact(2, probabilities.size(1)));
        check.apart("loads", out, probabilities);
        long begun = hook.begins(Kernel.ADD_LOADS);
        engine.addLoads(probabilities.own(), choice.own(), out.own());
        hook.ended(Kernel.ADD_LOADS, begun, out);
    }
}
