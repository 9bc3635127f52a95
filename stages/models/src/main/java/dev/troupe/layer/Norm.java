package dev.troupe.layer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.model.spec.ParameterSpec;
import java.util.List;

/**
 * Layer norm with its parameters (Ba et al. 2016), used by both halves of a block and by the head: of the rows of the
 * residual stream that this rank has.
 *
 * <p>N of these rows, C hidden size: x and y [N x C], gamma (weight) and beta (bias) [C].
 */
public final class Norm {
    private final Engine engine;
    private final TensorPool pool;
    private final double epsilon;
    private final Shape inputShape;
    private final Shape rowShape;
    private final Parameter gamma;
    private final Parameter beta;

    /**
     * What a norm is trained by.
     *
     * @param gamma
     *            what a normalized row is multiplied by
     * @param beta
     *            what is added then
     * @param epsilon
     *            what is added to a variance
     */
    public record Spec(ParameterSpec gamma, ParameterSpec beta, double epsilon) {
        /** Both. */
        public List<ParameterSpec> parameters() {
            return List.of(gamma, beta);
        }
    }

    Norm(LayerContext context, Spec spec) {
        engine = context.engine();
        pool = context.pool();
        epsilon = spec.epsilon();
        inputShape = new ResidualStream(context).shape();
        rowShape = Shape.of(inputShape.size(0));
        gamma = context.streamParameter(spec.gamma());
        beta = context.streamParameter(spec.beta());
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
