package dev.troupe.layer;

import dev.troupe.engine.Tensor;
import java.util.ArrayList;
import java.util.List;

/**
 * The second half of a block: {@code y = x + gelu(norm(x) Wfc + bfc) Wproj + bproj} with the tanh form of GELU (Hendrycks
 * and Gimpel 2016), the norm in front (Radford et al. 2019).
 *
 * <p>N = B T rows, C hidden size: x and y [N x C], the inner activation [N x 4C], Wfc [C x 4C], Wproj [4C x C]. Of t
 * ranks that share the stage each has 4C/t columns of Wfc and the inner activation, and as many rows of Wproj.
 */
public final class MlpHalf extends Half {
    private final TensorPool.Extent innerShape;
    private final Parameter innerWeight;
    private final Parameter innerBias;
    private final Parameter projectionWeight;
    private final Parameter projectionBias;

    /**
     * Makes the half on a rank.
     *
     * @param block
     *            the block's number in the model, for what drops out: the embedding is 0
     * @param inner
     *            [C x 4C]
     * @param projection
     *            [4C x C]
     */
    public MlpHalf(LayerContext context, int block, Norm.Spec norm, Linear inner, Linear projection) {
        super(context, block, DropoutKey.Site.MLP_OUTPUT, norm);
        innerWeight = context.parameter(inner.weight());
        innerBias = context.parameter(inner.bias());
        projectionWeight = context.parameter(projection.weight());
        projectionBias = context.parameter(projection.bias());
        innerShape = context.activation(innerWeight.shape().size(1));
    }

    @Override
    public List<Parameter> parameters() {
        List<Parameter> all = new ArrayList<>(norm.parameters());
        all.addAll(List.of(innerWeight, innerBias, projectionWeight, projectionBias));
        return all;
    }

    @Override
    public Pass newPass() {
        return new MlpPass();
    }

    private final class MlpPass extends Pass {
        private Tensor preActivation;
        private Tensor inner;
        private Tensor preActivationGradient;

        @Override
        protected void forward() {
            preActivation = take(innerShape);
            inner = take(innerShape);
            engine.linearGelu(normed, innerWeight.operand(), innerBias.weights(), preActivation, inner);
        }

        @Override
        protected Tensor projected() {
            return stream.project(inner, projectionWeight, projectionBias, microbatch.length());
        }

        /** Keeps the tensor before the activation. */
        @Override
        protected void shedInner() {
            inner = pool.drop(inner);
        }

        @Override
        protected Tensor backwardInner() {
            preActivationGradient = take(innerShape);
            engine.matmul(outputGradient, false, projectionWeight.operand(), true, preActivationGradient, false);
            engine.geluBackward(preActivation, preActivationGradient, preActivationGradient);
            if (inner == null) {
                // The last reader of the tensor before the activation leaves it to the tensor after it.
                engine.gelu(preActivation, preActivation);
                inner = preActivation;
                preActivation = null;
            }
            preActivation = pool.drop(preActivation);
            Tensor dNormed = take(activation);
            engine.matmul(preActivationGradient, false, innerWeight.operand(), true, dNormed, false);
            return dNormed;
        }

        @Override
        protected void backwardInnerWeight() {
            engine.matmul(inner, true, outputGradient, false, projectionWeight.gradient(), true);
            engine.biasBackward(outputGradient, projectionBias.gradient());
            engine.matmul(normed, true, preActivationGradient, false, innerWeight.gradient(), true);
            engine.biasBackward(preActivationGradient, innerBias.gradient());
        }

        @Override
        protected void releaseInner() {
            preActivation = pool.drop(preActivation);
            inner = pool.drop(inner);
        }

        @Override
        protected void releaseInnerGradients() {
            preActivationGradient = pool.drop(preActivationGradient);
        }
    }
}
