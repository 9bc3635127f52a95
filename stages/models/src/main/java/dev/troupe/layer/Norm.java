package dev.troupe.layer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.model.spec.ParameterSpec;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The norm of a half of a block or of the head, with its parameters: layer norm (Ba et al. 2016), or RMS norm if there is no
 * beta (Zhang and Sennrich 2019). It is applied to this rank's rows of the residual stream.
 *
 * <p>N of these rows, C hidden size: x and y [N x C], gamma (weight) and beta (bias) [C].
 */
public final class Norm {
    private final Engine engine;
    private final TensorPool pool;
    private final double epsilon;
    private final TensorPool.Extent inputShape;
    private final TensorPool.Extent rowShape;
    private final Parameter gamma;
    /** Null for RMS norm, which does not centre rows. */
    private final Parameter beta;

    /**
     * The parameters of a norm.
     *
     * @param gamma the factor of a normalized row
     * @param beta the addend after that; empty for the norm by the root mean square
     * @param epsilon the addend of a variance or of a mean square
     */
    public record Spec(ParameterSpec gamma, Optional<ParameterSpec> beta, double epsilon) {
        public List<ParameterSpec> parameters() {
            return Stream.concat(Stream.of(gamma), beta.stream()).toList();
        }
    }

    Norm(LayerContext context, Spec spec) {
        engine = context.engine();
        pool = context.pool();
        epsilon = spec.epsilon();
        inputShape = new ResidualStream(context).extent();
        rowShape = context.extent(length -> Shape.of(inputShape.of(length).size(0)));
        gamma = context.streamParameter(spec.gamma());
        beta = spec.beta().map(context::streamParameter).orElse(null);
    }

    public List<Parameter> parameters() {
        return beta == null ? List.of(gamma) : List.of(gamma, beta);
    }

    /** Applies the norm to rows [n x C]; nothing is kept. */
    void rows(Tensor x, Tensor y) {
        Shape count = Shape.of(x.shape().size(0));
        Tensor mean = beta == null ? null : pool.takeFloats(count);
        Tensor reciprocal = pool.takeFloats(count);
        normalize(null, x, y, mean, reciprocal);
        pool.drop(mean);
        pool.give(reciprocal);
    }

    private void normalize(Tensor residual, Tensor x, Tensor y, Tensor mean, Tensor reciprocal) {
        if (beta == null) {
            engine.rmsNorm(residual, x, gamma.weights(), epsilon, y, reciprocal);
        } else {
            engine.layerNorm(residual, x, gamma.weights(), beta.weights(), epsilon, y, mean, reciprocal);
        }
    }

    /** One microbatch: keeps the input and its statistics until {@link #release}. */
    final class Pass {
        private Tensor input;
        /** Null for RMS norm. */
        private Tensor mean;
        /** The reciprocal of the standard deviation, or of the root mean square. */
        private Tensor reciprocal;
        private Tensor outputGradient;
        private int length;

        /** Takes over {@code x}, of a microbatch of this length; the caller frees the output. */
        Tensor forward(Tensor x, int ofMicrobatch) {
            return forwardOfSum(null, x, ofMicrobatch);
        }

        /** As {@link #forward}, of {@code residual + x}, which is written to x. */
        Tensor forwardOfSum(Tensor residual, Tensor x, int ofMicrobatch) {
            length = ofMicrobatch;
            input = x;
            mean = beta == null ? null : pool.takeFloats(rowShape, length);
            reciprocal = pool.takeFloats(rowShape, length);
            return normalized(residual);
        }

        /** Gives back everything but the input. */
        void dropAllButInput() {
            mean = pool.drop(mean);
            reciprocal = pool.drop(reciprocal);
        }

        /** Runs the forward of the kept input again. */
        Tensor recompute() {
            return forward(input, length);
        }

        Tensor input() {
            return input;
        }

        /** Replaces the input; neither is given back. */
        void replaceInput(Tensor other) {
            input = other;
        }

        /** Returns the output of the forward again, with the same bits. */
        Tensor again() {
            return normalized(null);
        }

        private Tensor normalized(Tensor residual) {
            Tensor y = pool.take(inputShape, length);
            normalize(residual, input, y, mean, reciprocal);
            return y;
        }

        /**
         * Takes over {@code dy}; writes the gradient for the input to dx, or adds it. If the backward for the weights
         * follows at once, the same kernel does it, and dy is freed.
         */
        void backwardInput(Tensor dy, Tensor dx, boolean accumulate, boolean weightsFollow) {
            if (weightsFollow && gamma.spec().isTrained()) {
                backward(dy, dx, accumulate);
                pool.give(dy);
                return;
            }
            outputGradient = dy;
            if (beta == null) {
                engine.rmsNormBackwardInput(dy, input, gamma.weights(), reciprocal, dx, accumulate);
            } else {
                engine.layerNormBackwardInput(dy, input, gamma.weights(), mean, reciprocal, dx, accumulate);
            }
        }

        private void backward(Tensor dy, Tensor dx, boolean accumulate) {
            if (beta == null) {
                engine.rmsNormBackward(dy, input, gamma.weights(), reciprocal, dx, accumulate, gamma.gradient());
            } else {
                engine.layerNormBackward(dy, input, gamma.weights(), mean, reciprocal, dx, accumulate,
                        gamma.gradient(), beta.gradient());
            }
        }

        /** Does the rest of {@link #backwardInput}: the gradients of the weights. */
        void backwardWeight() {
            if (outputGradient == null || !gamma.spec().isTrained()) {
                return;
            }
            if (beta == null) {
                engine.rmsNormBackwardWeight(outputGradient, input, reciprocal, gamma.gradient());
            } else {
                engine.layerNormBackwardWeight(outputGradient, input, mean, reciprocal, gamma.gradient(),
                        beta.gradient());
            }
        }

        void release() {
            input = pool.drop(input);
            mean = pool.drop(mean);
            reciprocal = pool.drop(reciprocal);
            outputGradient = pool.drop(outputGradient);
        }
    }
}
