package dev.troupe.layer.rotary;

import dev.troupe.engine.Tensor;
import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.Half;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.Norm;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.TensorPool;
import dev.troupe.model.spec.ParameterSpec;
import java.util.List;
import java.util.stream.Stream;

/**
 * The second half of a block: {@code y = x + (silu(h Wgate^T) * (h Wup^T)) Wdown^T} with {@code h = norm(x)} (Shazeer 2020).
 *
 * <p>N = B T rows, C hidden size, I inner width: x and y [N x C], Wgate and Wup [I x C], Wdown [C x I]. Each of the t ranks
 * of a group has I/t rows of the first two, and I/t columns of Wdown.
 */
public final class GatedMlpHalf extends Half {
    private final TensorPool.Extent innerShape;
    private final Projection gates;
    private final Projection ups;
    private final Projection down;

    /**
     * The parameters of the half.
     *
     * @param gate [I x C]
     * @param up [I x C]
     * @param down [C x I]
     */
    public record Spec(Norm.Spec norm, Projection.Spec gate, Projection.Spec up, Projection.Spec down) {
        /** Returns all parameters, in the order of the published models. */
        public List<ParameterSpec> parameters() {
            return Stream.of(gate.parameters(), up.parameters(), down.parameters(), norm.parameters())
                    .flatMap(List::stream).toList();
        }
    }

    /**
     * Makes the half on a rank.
     *
     * @param block the block's number in the model, for dropout: the embedding is 0
     */
    public GatedMlpHalf(LayerContext context, int block, Spec spec) {
        super(context, block, DropoutKey.Site.MLP_OUTPUT, spec.norm());
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
        return new GatedPass();
    }

    private final class GatedPass extends Pass {
        /** Its gradient from the first backward on. */
        private Tensor gate;
        private Tensor up;
        private Tensor inner;
        private Tensor upGradient;

        @Override
        protected void forward() {
            gate = take(innerShape);
            gates.forward(normed, gate, microbatch);
            up = take(innerShape);
            ups.forward(normed, up, microbatch);
            weigh();
        }

        private void weigh() {
            inner = take(innerShape);
            engine.swiGlu(gate, up, inner);
        }

        @Override
        protected Tensor projected() {
            Tensor added = take(activation);
            down.forward(inner, added, microbatch);
            return stream.intoSum(added, microbatch.length());
        }

        /** Frees the tensors except both factors. */
        @Override
        protected void dropRecomputableInner() {
            inner = pool.drop(inner);
        }

        @Override
        protected Tensor backwardInner() {
            if (inner == null) {
                weigh();
            }
            upGradient = take(innerShape);
            down.backwardInput(outputGradient, upGradient, microbatch);
            // Both gradients overwrite tensors that the backward for the weights does not read.
            engine.swiGluBackward(gate, up, upGradient, gate, upGradient);
            up = pool.drop(up);
            Tensor dNormed = take(activation);
            gates.backwardInput(gate, dNormed, microbatch);
            ups.addBackwardInput(upGradient, dNormed, microbatch);
            return dNormed;
        }

        @Override
        protected void backwardInnerWeight() {
            down.backwardWeight(inner, outputGradient, microbatch);
            gates.backwardWeight(normed, gate, microbatch);
            ups.backwardWeight(normed, upGradient, microbatch);
        }

        @Override
        protected void releaseInner() {
            gate = pool.drop(gate);
            up = pool.drop(up);
            inner = pool.drop(inner);
        }

        @Override
        protected void releaseInnerGradients() {
            upGradient = pool.drop(upGradient);
        }
    }
}
