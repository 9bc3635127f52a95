package dev.troupe.stage;

import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import dev.troupe.partition.LayerRange;
import java.util.List;

/**
 * Is told what the layers of a stage put out, while it is still there. A tensor belongs to the stage and is only read.
 *
 * <p>Thread rule: the stage's thread.
 */
public interface StageWatch {
    /** The watch that nothing is told to. */
    StageWatch NONE = new StageWatch() {
    };

    /** A forward has made the activation behind a layer, [N x C]. */
    default void activation(int layer, int microbatch, Tensor output) {
    }

    /** A backward has made the gradient for the input of a layer, [N x C]. */
    default void inputGradient(int layer, int microbatch, Tensor gradient) {
    }

    /**
     * The last backward of a step has added to the gradients of some layers: what other ranks have of them is not added
     * yet. Where ranks share gradients out, they are those of that microbatch.
     *
     * @param parameters what the layers are trained by, second uses too
     */
    default void gradients(LayerRange layers, List<Parameter> parameters) {
    }
}
