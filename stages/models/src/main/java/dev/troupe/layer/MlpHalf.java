package dev.troupe.layer;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
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
public final class MlpHalf implements Half {
    private final Engine engine;
    private final TensorPool pool;
    private final ResidualStream stream;
    private final StreamDropout dropout;
    private final Shape activation;
    private final Shape innerShape;
    private final Norm norm;
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
        engine = context.engine();
        pool = context.pool();
        stream = new ResidualStream(context);
        dropout = new StreamDropout(context, stream, block, DropoutKey.Site.MLP_OUTPUT);
        activation = context.activation(context.hidden());
        this.norm = new Norm(context, norm);
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
        return new Pass();
    }

    /** One microbatch. */
    final class Pass implements Half.Pass {
        private final Norm.Pass normPass = norm.new Pass();
        private DropoutKey dropoutKey;
        private Tensor normed;
        private Tensor preActivation;
        private Tensor inner;
        private Tensor outputGradient;
        private Tensor preActivationGradient;

        @Override
        public void enter(Tensor residual, Tensor x, DropoutKey drawn) {
            dropoutKey = drawn;
            activate(normPass.forwardOfSum(residual, x));
        }

        private void activate(Tensor own) {
            normed = stream.intoWhole(own);
            preActivation = pool.take(innerShape);
            inner = pool.take(innerShape);
            engine.linearGelu(normed, innerWeight.operand(), innerBias.weights(), preActivation, inner);
        }

        @Override
        public Tensor project() {
            Tensor added = stream.project(inner, projectionWeight, projectionBias);
            dropout.forward(added, dropoutKey);
            return added;
        }

        @Override
        public Tensor residual() {
            return normPass.input();
        }

        /** Keeps its input, the norm's statistics and what comes before the activation. */
        @Override
        public void shed() {
            normed = pool.drop(normed);
            inner = pool.drop(inner);
        }

        @Override
        public void rewind() {
            normPass.rewind();
            normed = pool.drop(normed);
            preActivation = pool.drop(preActivation);
            inner = pool.drop(inner);
        }

        @Override
        public void replay() {
            activate(normPass.replay());
        }

        @Override
        public Tensor backwardInput(Tensor dy) {
            outputGradient = dropout.backward(dy, dropoutKey);
            preActivationGradient = pool.take(innerShape);
            engine.matmul(outputGradient, false, projectionWeight.operand(), true, preActivationGradient, false);
            engine.geluBackward(preActivation, preActivationGradient, preActivationGradient);
            if (inner == null) {
                // The last reader of what comes before the activation leaves it to what comes after.
                engine.gelu(preActivation, preActivation);
                inner = preActivation;
                preActivation = null;
            }
            // What only this half of the backward reads goes back now; the other half may come much later.
            preActivation = pool.drop(preActivation);
            Tensor dNormed = pool.take(activation);
            engine.matmul(preActivationGradient, false, innerWeight.operand(), true, dNormed, false);
            dNormed = stream.intoSum(dNormed);
            Tensor dx = stream.pastHalf(dy, outputGradient);
            normPass.backwardInput(dNormed, dx, true);
            return dx;
        }

        @Override
        public void backwardWeight() {
            if (normed == null) {
                normed = stream.intoWhole(normPass.again());
            }
            engine.matmul(inner, true, outputGradient, false, projectionWeight.gradient(), true);
            engine.biasBackward(outputGradient, projectionBias.gradient());
            engine.matmul(normed, true, preActivationGradient, false, innerWeight.gradient(), true);
            engine.biasBackward(preActivationGradient, innerBias.gradient());
            normPass.backwardWeight();
            release();
        }

        @Override
        public void release() {
            normPass.release();
            normed = pool.drop(normed);
            preActivation = pool.drop(preActivation);
            inner = pool.drop(inner);
            outputGradient = pool.drop(outputGradient);
            preActivationGradient = pool.drop(preActivationGradient);
        }
    }
}
