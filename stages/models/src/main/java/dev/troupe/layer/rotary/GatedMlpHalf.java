package dev.troupe.layer.rotary;

import dev.troupe.engine.Tensor;
import dev.troupe.layer.DropoutKey;
import dev.troupe.layer.Half;
import dev.troupe.layer.LayerContext;
import dev.troupe.layer.Norm;
import dev.troupe.layer.Parameter;
import dev.troupe.model.spec.ParameterSpec;
import java.util.List;
import java.util.stream.Stream;

/** The second half of a block, with a {@link GatedMlp}: {@code y = x + mlp(norm(x))}, x and y [N x C]. */
public final class GatedMlpHalf extends Half {
    private final GatedMlp mlp;

    /** The parameters of the half. */
    public record Spec(Norm.Spec norm, GatedMlp.Spec mlp) {
        /** Returns all parameters, in the order of the published models. */
        public List<ParameterSpec> parameters() {
            return Stream.of(mlp.parameters(), norm.parameters()).flatMap(List::stream).toList();
        }
    }

    /**
     * Makes the half on a rank.
     *
     * @param block the block's number in the model, for dropout: the embedding is 0
     */
    public GatedMlpHalf(LayerContext context, int block, Spec spec) {
        super(context, block, DropoutKey.Site.MLP_OUTPUT, spec.norm());
        mlp = new GatedMlp(context, spec.mlp());
    }

    @Override
    public List<Parameter> parameters() {
        return Stream.of(mlp.parameters(), norm.parameters()).flatMap(List::stream).toList();
    }

    @Override
    public Pass newPass() {
        return new GatedPass();
    }

    private final class GatedPass extends Pass {
        private final GatedMlp.Pass inner = mlp.new Pass();

        @Override
        protected void forward() {
            inner.forward(normed, microbatch);
        }

        @Override
        protected Tensor projected() {
            Tensor added = take(activation);
            inner.output(added);
            return stream.leave(added, microbatch.length());
        }

        @Override
        protected void dropRecomputableInner() {
            inner.dropRecomputable();
        }

        @Override
        protected Tensor backwardInner() {
            Tensor dNormed = take(activation);
            inner.backwardInput(outputGradient, dNormed);
            return dNormed;
        }

        @Override
        protected void backwardInnerWeight() {
            inner.backwardWeight(normed, outputGradient);
        }

        @Override
        protected void releaseInner() {
            inner.release();
        }

        @Override
        protected void releaseInnerGradients() {
            inner.releaseGradients();
        }
    }
}
