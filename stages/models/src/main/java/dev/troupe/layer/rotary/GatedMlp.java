package dev.troupe.layer.rotary;

import dev.troupe.engine.Engine;
import dev.troupe.engine.Tensor;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.MicrobatchContext;
import dev.troupe.layer.Parameter;
import dev.troupe.layer.TensorPool;
import dev.troupe.model.spec.ParameterSpec;
import java.util.List;
import java.util.stream.Stream;

/**
 * A gated MLP {@code (silu(h Wgate^T) * (h Wup^T)) Wdown^T} (Shazeer 2020).
 *
 * <p>N rows, C hidden size, I inner width: h [N x C], Wgate and Wup [I x C], Wdown [C x I]. Each of the t ranks of a group
 * has I/t rows of the first two, and I/t columns of Wdown, so that outputs are parts of a sum over the group.
 */
public final class GatedMlp {
    private final Engine engine;
    private final TensorPool pool;
    private final TensorPool.Extent innerShape;
    private final Projection gates;
    private final Projection ups;
    private final Projection downs;

    /**
     * The parameters.
     *
     * @param gate [I x C]
     * @param up [I x C]
     * @param down [C x I]
     */
    public record Spec(Projection.Spec gate, Projection.Spec up, Projection.Spec down) {
        /** Returns all parameters, in the order of the published models. */
        public List<ParameterSpec> parameters() {
            return Stream.of(gate, up, down).map(Projection.Spec::parameters).flatMap(List::stream).toList();
        }
    }

    public GatedMlp(LayerContext context, Spec spec) {
        engine = context.engine();
        pool = context.pool();
        gates = new Projection(context, spec.gate());
        ups = new Projection(context, spec.up());
        downs = new Projection(context, spec.down());
        innerShape = context.activation(gates.outputs());
    }

    /** Returns the parameters in the order of the published model. */
    public List<Parameter> parameters() {
        return Stream.of(gates, ups, downs).map(Projection::parameters).flatMap(List::stream).toList();
    }

    /** One microbatch. */
    public final class Pass {
        private MicrobatchContext microbatch;
        /** Its gradient from the first backward on. */
        private Tensor gate;
        private Tensor up;
        private Tensor inner;
        private Tensor upGradient;

        /** Computes the inner activation of h. */
        public void forward(Tensor h, MicrobatchContext context) {
            microbatch = context;
            gate = take();
            gates.forward(h, gate, microbatch);
            up = take();
            ups.forward(h, up, microbatch);
            weigh();
        }

        private Tensor take() {
            return pool.take(innerShape, microbatch.length());
        }

        private void weigh() {
            inner = take();
            engine.swiGlu(gate, up, inner);
        }

        /** Writes this rank's part of the output to y [N x C]. */
        public void output(Tensor y) {
            downs.forward(inner, y, microbatch);
        }

        /** Frees the tensors except both factors. */
        public void dropRecomputable() {
            inner = pool.drop(inner);
        }

        /** Writes this rank's part of the gradient for h [N x C], by the gradient dy of the output. */
        public void backwardInput(Tensor dy, Tensor dh) {
            if (inner == null) {
                weigh();
            }
            upGradient = take();
            downs.backwardInput(dy, upGradient, microbatch);
            // Both gradients overwrite tensors that the backward for the weights does not read.
            engine.swiGluBackward(gate, up, upGradient, gate, upGradient);
            up = pool.drop(up);
            gates.backwardInput(gate, dh, microbatch);
            ups.addBackwardInput(upGradient, dh, microbatch);
        }

        /** Adds to the gradients of the parameters. */
        public void backwardWeight(Tensor h, Tensor dy) {
            downs.backwardWeight(inner, dy, microbatch);
            gates.backwardWeight(h, gate, microbatch);
            ups.backwardWeight(h, upGradient, microbatch);
        }

        /** Frees every tensor that the forward made. */
        public void release() {
            gate = pool.drop(gate);
            up = pool.drop(up);
            inner = pool.drop(inner);
        }

        /** Frees every tensor that the backward for the input made. */
        public void releaseGradients() {
            upGradient = pool.drop(upGradient);
        }
    }
}
