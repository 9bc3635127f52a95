package dev.troupe.layer.rotary;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Shape;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.Half;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.Norm;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.ResidualStream;
import dev.troupe.layer.StreamDropout;
import dev.troupe.layer.TensorPool;
import dev.troupe.model.spec.ParameterSpec;
import java.util.List;
import java.util.stream.Stream;

/**
 * The second half of a block: {@code y = x + (silu(h Wgate^T) * (h Wup^T)) Wdown^T} with {@code h = norm(x)} (Shazeer
 * 2020).
 *
 * <p>N = B T rows, C hidden size, I inner width: x and y [N x C], Wgate and Wup [I x C], Wdown [C x I]. Of t ranks that
 * share the stage each has I/t rows of the first two, and as many columns of Wdown.
 */
public final class GatedMlpHalf implements Half {
    private final Engine engine;
    private final TensorPool pool;
    private final ResidualStream stream;
    private final StreamDropout dropout;
    private final Shape activation;
    private final Shape innerShape;
    private final Norm norm;
    private final Projection gates;
    private final Projection ups;
    private final Projection down;

    /**
     * What the half is made of.
     *
     * @param norm
     *            of the stream
     * @param gate
     *            [I x C]
     * @param up
     *            [I x C]
     * @param down
     *            [C x I]
     */
    public record Spec(Norm.Spec norm, Projection.Spec gate, Projection.Spec up, Projection.Spec down) {
        /** All parameters, in the order of the published models. */
        public List<ParameterSpec> parameters() {
            return Stream.of(gate.parameters(), up.parameters(), down.parameters(), norm.parameters())
                    .flatMap(List::stream).toList();
        }
    }

    /**
     * Makes the half on a rank.
     *
     * @param block
     *            the block's number in the model, for what drops out: the embedding is 0
     */
    public GatedMlpHalf(LayerContext context, int block, Spec spec) {
        engine = context.engine();
        pool = context.pool();
        stream = new ResidualStream(context);
        dropout = new StreamDropout(context, stream, block, DropoutKey.Site.MLP_OUTPUT);
        activation = context.activation(context.hidden());
        norm = new Norm(context, spec.norm());
        gates = new Projection(context, spec.gate());
        ups = new Projection(context, spec.up());
        down = new Projection(context, spec.down());
        innerShape = context.activation(gates.outputs());
    }

    @Override
    public List<Parameter> parameters() {
        return Stream.of(gates.parameters(), ups.parameters(), down.parameters(), norm.parameters())
                .flatMap(List::stream).toList();
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
        /** From the first backward on the gradient for it. */
        private Tensor gate;
        private Tensor up;
        private Tensor inner;
        private Tensor outputGradient;
        private Tensor upGradient;

        @Override
        public void enter(Tensor residual, Tensor x, DropoutKey drawn) {
            dropoutKey = drawn;
            open(normPass.forwardOfSum(residual, x));
        }

        private void open(Tensor own) {
            normed = stream.intoWhole(own);
            gate = pool.take(innerShape);
            gates.forward(normed, gate);
            up = pool.take(innerShape);
            ups.forward(normed, up);
            weigh();
        }

        private void weigh() {
            inner = pool.take(innerShape);
            engine.swiGlu(gate, up, inner);
        }

        @Override
        public Tensor project() {
            Tensor added = pool.take(activation);
            down.forward(inner, added);
            added = stream.intoSum(added);
            dropout.forward(added, dropoutKey);
            return added;
        }

        @Override
        public Tensor residual() {
            return normPass.input();
        }

        /** Keeps its input, the norm's statistics, and what is multiplied. */
        @Override
        public void shed() {
            normed = pool.drop(normed);
            inner = pool.drop(inner);
        }

        @Override
        public void rewind() {
            normPass.rewind();
            normed = pool.drop(normed);
            gate = pool.drop(gate);
            up = pool.drop(up);
            inner = pool.drop(inner);
        }

        @Override
        public void replay() {
            open(normPass.replay());
        }

        @Override
        public Tensor backwardInput(Tensor dy) {
            outputGradient = dropout.backward(dy, dropoutKey);
            if (inner == null) {
                weigh();
            }
            upGradient = pool.take(innerShape);
            down.backwardInput(outputGradient, upGradient);
            // Both gradients take the places of what the backward for the weights does not read.
            engine.swiGluBackward(gate, up, upGradient, gate, upGradient);
            up = pool.drop(up);
            Tensor dNormed = pool.take(activation);
            gates.backwardInput(gate, dNormed);
            ups.addBackwardInput(upGradient, dNormed);
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
            down.backwardWeight(inner, outputGradient);
            gates.backwardWeight(normed, gate);
            ups.backwardWeight(normed, upGradient);
            normPass.backwardWeight();
            release();
        }

        @Override
        public void release() {
            normPass.release();
            normed = pool.drop(normed);
            gate = pool.drop(gate);
            up = pool.drop(up);
            inner = pool.drop(inner);
            outputGradient = pool.drop(outputGradient);
            upGradient = pool.drop(upGradient);
        }
    }
}
