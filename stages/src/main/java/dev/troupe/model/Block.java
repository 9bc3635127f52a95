package dev.troupe.model;

import dev.troupe.engine.Tensor;
import java.util.ArrayList;
import java.util.List;

/** One transformer block of GPT-2 (Radford et al. 2019): an attention half and an MLP half, each with its residual. */
final class Block implements Layer {
    private final int number;
    private final AttentionHalf attention;
    private final MlpHalf mlp;

    /** The block of this layer number; block {@code h.0} is layer 1. */
    Block(LayerContext context, int number) {
        this.number = number;
        String name = "h." + (number - 1);
        attention = new AttentionHalf(context, number, name);
        mlp = new MlpHalf(context, number, name);
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public List<Parameter> parameters() {
        List<Parameter> all = new ArrayList<>(attention.parameters());
        all.addAll(mlp.parameters());
        return List.copyOf(all);
    }

    @Override
    public Pass newTape() {
        return new Pass();
    }

    /** One microbatch. */
    final class Pass implements Tape {
        private final AttentionHalf.Pass attentionPass = attention.new Pass();
        private final MlpHalf.Pass mlpPass = mlp.new Pass();

        @Override
        public Tensor forward(Tensor x, DropoutKey dropoutKey) {
            Tensor added = attentionPass.forward(x, dropoutKey);
            return mlpPass.forward(attentionPass.residual(), added, dropoutKey);
        }

        @Override
        public void shed() {
            attentionPass.shed();
            mlpPass.shed();
        }

        @Override
        public void rewind() {
            mlpPass.release();
            attentionPass.rewind();
        }

        @Override
        public void replay() {
            Tensor added = attentionPass.replay();
            mlpPass.replay(attentionPass.residual(), added);
        }

        @Override
        public Tensor backwardInput(Tensor dy) {
            return attentionPass.backwardInput(mlpPass.backwardInput(dy));
        }

        @Override
        public void backwardWeight() {
            mlpPass.backwardWeight();
            attentionPass.backwardWeight();
        }

        @Override
        public void release() {
            mlpPass.release();
            attentionPass.release();
        }
    }
}
