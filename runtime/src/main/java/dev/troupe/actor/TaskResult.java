package dev.troupe.actor;

import dev.troupe.machine.MicrobatchLoss;
import dev.troupe.model.LayerSquaredSum;
import java.util.List;

/**
 * What a task measured.
 *
 * @param losses
 *            the loss of the microbatch, from a forward of the last stage
 * @param squaredSums
 *            one for each layer, from {@link dev.troupe.machine.StageTask.MeasureGradients}
 */
record TaskResult(List<MicrobatchLoss> losses, List<LayerSquaredSum> squaredSums) {
    static final TaskResult NOTHING = new TaskResult(List.of(), List.of());

    TaskResult {
        losses = List.copyOf(losses);
        squaredSums = List.copyOf(squaredSums);
    }
}
