package dev.troupe.layer.rotary;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.MicrobatchContext;
import dev.troupe.layer.Norm;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.TensorPool;
import dev.troupe.layer.cache.CachedRows;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The queries or keys of a block: projected, normalized by head if the model does so, and rotated by their positions (rotary
 * embedding).
 *
 * <p>N rows, K inputs, G heads of D numbers that this rank has: each result [N x G D]. "Turned" means rotated.
 */
final class TurnedHeads {
    private final Engine engine;
    private final TensorPool pool;
    private final Projection projection;
    private final RotaryAngles angles;
    /** [D]; null if heads are not normalized. */
    private final Parameter gamma;
    private final double epsilon;
    private final int headSize;
    private final TensorPool.Extent shape;
    private final TensorPool.Extent rootShape;

    TurnedHeads(LayerContext context, Projection.Spec spec, Optional<Norm.Spec> norm, RotaryAngles angles,
            int headSize) {
        engine = context.engine();
        pool = context.pool();
        projection = new Projection(context, spec);
        gamma = norm.map(one -> context.parameter(one.gamma())).orElse(null);
        epsilon = norm.map(Norm.Spec::epsilon).orElse(0.0);
        this.angles = angles;
        this.headSize = headSize;
        shape = context.activation(projection.outputs());
        rootShape = context.perRow(projection.outputs() / headSize);
    }

    List<Parameter> projectionParameters() {
        return projection.parameters();
    }

    Stream<Parameter> normParameters() {
        return Stream.ofNullable(gamma);
    }

    /** The computation of one microbatch. */
    final class Pass {
        private MicrobatchContext microbatch;
        /** The tensor before the norm; null without a norm. */
        private Tensor projected;
        private Tensor reciprocalRoot;
        private Tensor turned;
        /** The gradient for the output of the norm, until the gradient of its weights is computed; otherwise null. */
        private Tensor normGradient;
        private Tensor gradient;

        /** Computes the turned heads from the normed stream [N x K]. */
        void enter(Tensor normed, MicrobatchContext context) {
            microbatch = context;
            turned = pool.take(shape, microbatch.length());
            if (gamma == null) {
                projection.forward(normed, turned, microbatch);
            } else {
                projected = pool.take(shape, microbatch.length());
                reciprocalRoot = pool.takeFloats(rootShape, microbatch.length());
                projection.forward(normed, projected, microbatch);
                engine.rmsNorm(null, projected, gamma.weights(), epsilon, turned, reciprocalRoot);
            }
            turn(turned, false);
        }

        private void turn(Tensor heads, boolean back) {
            CachedRows texts = microbatch.texts();
            if (texts == null) {
                engine.rotary(heads, microbatch.starts(), microbatch.length(), angles.cosines(), angles.sines(),
                        headSize, back, heads);
                return;
            }
            texts.ofEach((first, rows, place) -> {
                RotaryAngles own = angles.from(engine, place);
                Tensor some = texts.rowsOf(heads, first, rows);
                engine.rotary(some, null, rows, own.cosines(), own.sines(), headSize, back, some);
            });
        }

        Tensor turned() {
            return turned;
        }

        /** Returns a tensor to which the caller writes the gradient of the turned heads; {@link #release} gives it back. */
        Tensor takeGradient() {
            gradient = pool.take(shape, microbatch.length());
            return gradient;
        }

        /**
         * Computes the gradient of the normed stream from the gradient of the turned heads, and adds it to dx or writes it
         * there.
         *
         * @param weightsFollow whether {@link #backwardWeight} comes before any other backward
         */
        void backwardInput(Tensor dx, boolean adds, boolean weightsFollow) {
            turned = pool.drop(turned);
            turn(gradient, true);
            if (gamma != null) {
                backwardNorm(weightsFollow && gamma.spec().isTrained());
            }
            if (adds) {
                projection.addBackwardInput(gradient, dx, microbatch);
            } else {
                projection.backwardInput(gradient, dx, microbatch);
            }
        }

        /**
         * Replaces the gradient of the norm's output by the gradient of its input.
         *
         * @param both whether the gradient of gamma is computed too; if not, the gradient of the output is kept for later
         */
        private void backwardNorm(boolean both) {
            Tensor before = pool.take(shape, microbatch.length());
            if (both) {
                engine.rmsNormBackward(gradient, projected, gamma.weights(), reciprocalRoot, before, false,
                        gamma.gradient());
                pool.give(gradient);
            } else {
                engine.rmsNormBackwardInput(gradient, projected, gamma.weights(), reciprocalRoot, before, false);
                normGradient = gradient;
            }
            gradient = before;
        }

        void backwardWeight(Tensor normed) {
            projection.backwardWeight(normed, gradient, microbatch);
            if (normGradient != null && gamma.spec().isTrained()) {
                engine.rmsNormBackwardWeight(normGradient, projected, reciprocalRoot, gamma.gradient());
            }
        }

        void release() {
            projected = pool.drop(projected);
            reciprocalRoot = pool.drop(reciprocalRoot);
            turned = pool.drop(turned);
            normGradient = pool.drop(normGradient);
            gradient = pool.drop(gradient);
        }
    }
}
