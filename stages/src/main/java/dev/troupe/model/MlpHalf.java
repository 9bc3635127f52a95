package dev.troupe.model;

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
final class MlpHalf {
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

    MlpHalf(LayerContext context, int number, String block) {
        int width = context.model().hidden();
        engine = context.engine();
        pool = context.pool();
        stream = new ResidualStream(context);
        dropout = new StreamDropout(context, stream, number, DropoutKey.Site.MLP_OUTPUT);
        activation = context.activation(width);
        innerShape = context.activation(context.own(4 * width));
        norm = new Norm(context, block + ".ln_2");
        innerWeight = context.byColumns(block + ".mlp.c_fc.weight", 1, width, 4 * width);
        innerBias = context.byColumns(block + ".mlp.c_fc.bias", 1, 4 * width);
        projectionWeight = context.byRows(block + ".mlp.c_proj.weight", 4 * width, width);
        projectionBias = Parameter.of(block + ".mlp.c_proj.bias", width);
    }

    List<Parameter> parameters() {
        List<Parameter> all = new ArrayList<>(norm.parameters());
        all.addAll(List.of(innerWeight, innerBias, projectionWeight, projectionBias));
        return all;
    }

    /** One microbatch. */
    final class Pass {
        private final Norm.Pass normPass = norm.new Pass();
        private DropoutKey dropoutKey;
        private Tensor normed;
        private Tensor preActivation;
        private Tensor inner;
        private Tensor outputGradient;
        private Tensor preActivationGradient;

        /** Of the sum of the two, which {@code added} becomes; takes that over. */
        Tensor forward(Tensor residual, Tensor added, DropoutKey drawn) {
            dropoutKey = drawn;
            replay(residual, added);
            Tensor y = stream.project(inner, projectionWeight, projectionBias);
            dropout.forward(y, dropoutKey);
            engine.add(normPass.input(), y, y);
            return y;
        }

        /** The forward as far as the backwards need it: without the projection, which is half of its work. */
        void replay(Tensor residual, Tensor added) {
            normed = stream.intoWhole(normPass.forwardOfSum(residual, added));
            preActivation = pool.take(innerShape);
            inner = pool.take(innerShape);
            engine.linearGelu(normed, innerWeight.operand(), innerBias.weights(), preActivation, inner);
        }

        /** Keeps its input, the norm's statistics and what comes before the activation. */
        void shed() {
            normed = pool.drop(normed);
            inner = pool.drop(inner);
        }

        Tensor backwardInput(Tensor dy) {
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

        void backwardWeight() {
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

        void release() {
            normPass.release();
            normed = pool.drop(normed);
            preActivation = pool.drop(preActivation);
            inner = pool.drop(inner);
            outputGradient = pool.drop(outputGradient);
            preActivationGradient = pool.drop(preActivationGradient);
        }
    }
}
