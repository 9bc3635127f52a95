package dev.troupe.peer;

import java.util.List;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** The whole model in this process. */
final class OneProcess implements Trainer {
    private final Gpt2Stage stage;
    private final Scalar microbatches;

    OneProcess(Arguments arguments, PublishedWeights weights) {
        stage = new Gpt2Stage(arguments, 0, 1, weights);
        microbatches = new Scalar((double) arguments.microbatches());
    }

    @Override
    public List<Tensor> parameters() {
        return stage.parameters();
    }

    @Override
    public Tensor secondCopy() {
        return null;
    }

    @Override
    public double accumulate(List<Tensor> inputs, List<Tensor> targets) {
        double total = 0;
        for (int i = 0; i < inputs.size(); i++) {
            Tensor loss;
            try (PointerScope _ = new PointerScope()) {
                // All other handles are freed before the backward, which frees activations as it goes.
                loss = loss(stage, inputs.get(i), targets.get(i), microbatches);
                loss.retainReference();
            }
            loss.backward();
            total += loss.item_float();
            loss.close();
        }
        return total;
    }

    @Override
    public Tensor globalNorm(Tensor norm) {
        return norm;
    }

    /** The loss of a microbatch over the number of them, so that no pass over the gradients divides. */
    static Tensor loss(Gpt2Stage last, Tensor input, Tensor targets, Scalar microbatches) {
        return torch.cross_entropy_loss(last.forward(input).flatten(0, 1), targets).div(microbatches);
    }
}
