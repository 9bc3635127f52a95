package dev.troupe.model;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import java.util.List;

/**
 * Layer norm with its parameters (Ba et al. 2016), used by both halves of a block and by the head: of the rows of the
 * residual stream that this rank has.
 *
 * <p>N of these rows, C hidden size: x and y [N x C], gamma (weight) and beta (bias) [C].
 */
final class Norm {
    private final Engine engine;
    private final TensorPool pool;
    private final double epsilon;
    private final Shape inputShape;
    private final Shape rowShape;
    private final Parameter gamma;
    private final Parameter beta;

    Norm(LayerContext context, String name) {
        int width = context.model().hidden();
        engine = context.engine();
        pool = context.pool();
        epsilon = context.model().normEpsilon();
        inputShape = new ResidualStream(context).shape();
        rowShape = Shape.of(inputShape.size(0));
        gamma = Parameter.ofStream(context, name + ".weight", width);
        beta = Parameter.ofStream(context, name + ".bias", width);
    }

    List<Parameter> parameters() {
        return List.of(gamma, beta);
    }

    /** The norm of a single row [1 x C]; nothing is kept. */
    void row(Tensor x, Tensor y, Tensor mean, Tensor reciprocalDeviation) {
        engine.layerNorm(null, x, gamma.weights(), beta.weights(), epsilon, y, mean, reciprocalDeviation);
    }

    /** One microbatch: keeps the input and its statistics until {@link #release}. */
    final class Pass {
        private Tensor input;
        private Tensor mean;
        private Tensor reciprocalDeviation;
        private Tensor outputGradient;

        /** Takes over {@code x}; the caller gives the output back. */
        Tensor forward(Tensor x) {
            return forwardOfSum(null, x);
        }

        /** The same of {@code residual + x}, which x becomes. */
        Tensor forwardOfSum(Tensor residual, Tensor x) {
            input = x;
            mean = pool.takeFloats(rowShape);
            reciprocalDeviation = pool.takeFloats(rowShape);
            return normalized(residual);
        }

        /** Takes over nothing, and keeps the input alone. */
        void rewind() {
            mean = pool.drop(mean);
            reciprocalDeviation = pool.drop(reciprocalDeviation);
        }

        /** The forward of the input that {@link #rewind} left. */
        Tensor replay() {
            return forward(input);
        }

        Tensor input() {
            return input;
        }

        /** The output of the forward once more, to the bit. */
        Tensor again() {
            return normalized(null);
        }

        private Tensor normalized(Tensor residual) {
            Tensor y = pool.take(inputShape);
            engine.layerNorm(residual, input, gamma.weights(), beta.weights(), epsilon, y, mean, reciprocalDeviation);
            return y;
        }

        /** Takes over {@code dy}; writes the gradient for the input to dx, or adds it. */
        void backwardInput(Tensor dy, Tensor dx, boolean accumulate) {
            outputGradient = dy;
            engine.layerNormBackwardInput(dy, input, gamma.weights(), mean, reciprocalDeviation, dx, accumulate);
        }

        void backwardWeight() {
            engine.layerNormBackwardWeight(outputGradient, input, mean, reciprocalDeviation, gamma.gradient(),
                    beta.gradient());
        }

        void release() {
            input = pool.drop(input);
            mean = pool.drop(mean);
            reciprocalDeviation = pool.drop(reciprocalDeviation);
            outputGradient = pool.drop(outputGradient);
        }
    }
}
