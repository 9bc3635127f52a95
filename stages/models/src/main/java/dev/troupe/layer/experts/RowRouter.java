package dev.troupe.layer.experts;

import dev.troupe.engine.DataType;
import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.engine.router.Router;
import dev.troupe.layer.ExpertLoads;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.MicrobatchContext;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.TensorPool;
import dev.troupe.model.spec.ExpertTraining;
import java.util.stream.Stream;

/**
 * The router of a layer with experts: the choices of each row with their weights, the losses of the router, and the bias of
 * the choice.
 *
 * <p>N rows, E experts, k choices of a row, C hidden size. Every rank that shares the layer has the whole router, and makes
 * the same choices.
 */
final class RowRouter {
    private final Engine engine;
    private final TensorPool pool;
    private final int block;
    private final int experts;
    private final ExpertTraining training;
    private final Router router;
    private final Parameter matrix;
    /** Null if the choice has no bias. */
    private final Parameter bias;
    private final TensorPool.Extent scoreShape;
    private final TensorPool.Extent choiceShape;
    private final TensorPool.Extent activation;
    private final Shape loadShape;

    RowRouter(LayerContext context, int block, ExpertsHalf.Spec spec) {
        engine = context.engine();
        pool = context.pool();
        this.block = block;
        experts = spec.experts().size();
        training = spec.training();
        router = spec.router();
        matrix = context.parameter(spec.routerWeights());
        bias = spec.choiceBias().map(context::parameter).orElse(null);
        scoreShape = context.activation(experts);
        choiceShape = context.activation(spec.perToken());
        activation = context.activation(context.hidden());
        loadShape = Shape.of(experts);
    }

    Stream<Parameter> parameters() {
        return Stream.concat(Stream.of(matrix), Stream.ofNullable(bias));
    }

    /** Returns the shapes of a number for each choice, [N x k]. */
    TensorPool.Extent choiceShape() {
        return choiceShape;
    }

    /** One microbatch. Its choices remain for a replay. */
    final class Pass {
        private MicrobatchContext microbatch;
        private Tensor scores;
        private Tensor chosen;
        private Tensor weights;
        /** Kept for the gradient of the z-loss; null without one. */
        private Tensor logits;
        /** The layer's number among the loads of the microbatch. */
        private int layer;
        private Tensor logitGradient;

        boolean hasChosen() {
            return chosen != null;
        }

        Tensor chosen() {
            return chosen;
        }

        Tensor weights() {
            return weights;
        }

        /**
         * Chooses the experts of the normed rows [N x C]. Scores are floats, whatever the type of activations.
         *
         * @return the positions of choices in the buffers of experts, which the caller gives back; null if none is dropped
         */
        Tensor choose(Tensor normed, MicrobatchContext context) {
            microbatch = context;
            logits = pool.takeFloats(scoreShape, microbatch.length());
            engine.matmul(normed, false, matrix.computeWeights(), true, logits, false);
            scores = pool.takeFloats(scoreShape, microbatch.length());
            chosen = pool.take(DataType.INT32, choiceShape, microbatch.length());
            weights = pool.takeFloats(choiceShape, microbatch.length());
            engine.route(router, logits, bias == null ? null : bias.weights(), scores, chosen, weights);
            Tensor positions = microbatch.loads() == null ? null : measured();
            if (microbatch.loads() == null || training.routerZLoss() == 0) {
                logits = pool.drop(logits);
            }
            return positions;
        }

        private Tensor measured() {
            layer = microbatch.loads().nextLayer();
            engine.addLoads(scores, chosen, microbatch.loads().choicesAndScores(layer));
            if (training.routerZLoss() > 0) {
                engine.routerZLoss(logits, microbatch.loads().ofLayer(layer));
            }
            if (!training.placesChoices()) {
                return null;
            }
            Tensor positions = pool.take(DataType.INT32, choiceShape, microbatch.length());
            engine.placeChoices(training.drawsSecond() ? microbatch.dropoutKey().ofRouter(block) : null,
                    training.capacity((int) chosen.shape().elementCount(), experts), chosen, weights, positions,
                    microbatch.loads().ofLayer(layer), ExpertLoads.droppedIndex(experts));
            return positions;
        }

        /** Adds the gradient through the weights of choices, and of the losses, to the gradient of the normed rows. */
        void addBackwardInput(Tensor weightGradient, Tensor dNormed) {
            logitGradient = pool.take(scoreShape, microbatch.length());
            engine.routeBackward(router, scores, chosen, weightGradient,
                    microbatch.loads() == null ? null : microbatch.loads().scoreGradient(), logitGradient);
            double ofZLoss = microbatch.loads() == null ? 0 : microbatch.loads().zLossGradient();
            if (ofZLoss != 0) {
                engine.routerZLossBackward(logits, ofZLoss, logitGradient);
            }
            Tensor addend = pool.take(activation, microbatch.length());
            engine.matmul(logitGradient, false, matrix.computeWeights(), false, addend, false);
            engine.add(dNormed, addend, dNormed);
            pool.give(addend);
        }

        /**
         * Adds to the gradient of the matrix. To the bias of the choice it adds, in place of a gradient, E times the choices
         * of each expert less the number of all: whole numbers, of which the sum has the sign of the expert's overload. It
         * runs once for each microbatch that is trained, whatever is recomputed or only measured.
         */
        void backwardWeight(Tensor normed) {
            engine.matmul(logitGradient, true, normed, false, matrix.gradient(), true);
            if (training.biasUpdateRate() == 0 || !bias.spec().isTrained()) {
                return;
            }
            Tensor overload = pool.takeFloats(loadShape);
            Tensor mean = pool.takeFloats(loadShape);
            engine.copy(microbatch.loads().choices(layer), overload);
            engine.scale(overload, experts);
            engine.fill(mean, -chosen.shape().elementCount());
            engine.add(overload, mean, overload);
            engine.add(bias.gradient(), overload, bias.gradient());
            pool.give(overload);
            pool.give(mean);
        }

        /** Frees the choices. */
        void release() {
            logits = pool.drop(logits);
            scores = pool.drop(scores);
            chosen = pool.drop(chosen);
            weights = pool.drop(weights);
        }

        /** Frees the tensor that the backward for the input made. */
        void releaseGradients() {
            logitGradient = pool.drop(logitGradient);
        }
    }
}
