package dev.troupe.shard;

import dev.troupe.engine.Tensor;
import dev.troupe.layer.Parameter;
import java.util.Map;

/**
 * One sum of a stage's gradients, which some microbatches add to until an update uses it.
 *
 * @param buffer all gradients but that of a second use
 * @param secondUse the gradient of a second use, which lies apart: it is summed into the first before anything else is
 *     done with it; null if there is none
 * @param ranges the whole gradient of each parameter; empty where ranks share gradients out
 * @param shares what this rank has of each parameter's gradient
 */
record GradientSum(FlatBuffer buffer, Tensor secondUse, Map<Parameter, Tensor> ranges, Map<Parameter, Tensor> shares) {
    /** From now on backwards add to this sum. */
    void place(StageParameters layers) {
        ranges.forEach(Parameter::placeGradient);
        if (secondUse != null) {
            layers.secondUse().placeGradient(secondUse);
        }
    }

    long bytes() {
        return buffer.tensor().byteCount() + (secondUse == null ? 0 : secondUse.byteCount());
    }
}
