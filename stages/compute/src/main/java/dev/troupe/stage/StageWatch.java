package dev.troupe.stage;

import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import dev.troupe.partition.LayerRange;
import java.util.List;

/**
 * An observer of the outputs of a stage's layers, called while they exist. A tensor belongs to the stage and is only read.
 *
 * <p>Thread rule: the stage's thread.
 */
public interface StageWatch {
    /** A watch that does nothing. */
    StageWatch NONE = new StageWatch() {
    };

    /** A forward has made the activation after a layer, [N x C]. */
    default void activation(int layer, int microbatch, Tensor output) {
    }

    /** A backward has made the gradient for the input of a layer, [N x C]. */
    default void inputGradient(int layer, int microbatch, Tensor gradient) {
    }

    /**
     * The last backward of a step has added to the gradients of some layers, before the sum over ranks. If ranks divide
     * gradients, these are of that microbatch.
     *
     * @param parameters the trained parameters of the layers, including second uses
     */
    default void gradients(LayerRange layers, List<Parameter> parameters) {
    }
}
