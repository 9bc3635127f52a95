package dev.troupe.layer.absolute;

import dev.troupe.engine.Tensor;
import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.Half;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.Norm;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.TensorPool;
import java.util.List;
import java.util.stream.Stream;

/**
 * The second half of a block: {@code y = x + gelu(norm(x) Wfc + bfc) Wproj + bproj} with the tanh form of GELU (Hendrycks
 * and Gimpel 2016), the norm in front (Radford et al. 2019).
 *
 * <p>N = B T rows, C hidden size: x and y [N x C], the inner activation [N x 4C], Wfc [C x 4C], Wproj [4C x C]. Each of the
 * t ranks of a group has 4C/t columns of Wfc and the inner activation, and 4C/t rows of Wproj.
 */
public final class MlpHalf extends Half {
    private final TensorPool.Extent innerShape;
    private final Linear expansion;
    private final Linear projection;

    /**
     * Makes the half on a rank.
     *
     * @param block the block's number in the model, for dropout: the embedding is 0
     * @param expansion [C x 4C]
     * @param projection [4C x C]
     */
    public MlpHalf(LayerContext context, int block, Norm.Spec norm, Linear.Spec expansion,
            Linear.Spec projection) {
        super(context, block, DropoutKey.Site.MLP_OUTPUT, norm);
        this.expansion = new Linear(context, expansion);
        this.projection = new Linear(context, projection);
        innerShape = context.activation(this.expansion.outputs());
    }

    @Override
    public List<Parameter> parameters() {
        return Stream.of(norm.parameters(), expansion.parameters(), projection.parameters()).flatMap(List::stream)
                .toList();
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
            expansion.forwardGelu(normed, preActivation, inner, microbatch);
        }

        @Override
        protected Tensor projected() {
            return projection.forwardIntoSum(inner, activation, stream, microbatch);
        }

        /** Frees the tensors except the one before the activation. */
        @Override
        protected void dropRecomputableInner() {
            inner = pool.drop(inner);
        }

        @Override
        protected Tensor backwardInner() {
            preActivationGradient = take(innerShape);
            projection.backwardInput(outputGradient, preActivationGradient, microbatch);
            engine.geluBackward(preActivation, preActivationGradient, preActivationGradient);
            if (inner == null) {
                // The last reader of the pre-activation lets GELU overwrite it.
                engine.gelu(preActivation, preActivation);
                inner = preActivation;
                preActivation = null;
            }
            preActivation = pool.drop(preActivation);
            Tensor dNormed = take(activation);
            expansion.backwardInput(preActivationGradient, dNormed, microbatch);
            return dNormed;
        }

        @Override
        protected void backwardInnerWeight() {
            projection.backwardWeight(inner, outputGradient, microbatch);
            expansion.backwardWeight(normed, preActivationGradient, microbatch);
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
