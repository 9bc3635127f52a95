package dev.troupe.protocol.rank;

import dev.troupe.protocol.MicrobatchLoss;
import dev.troupe.protocol.run.LayerSquaredSum;
import java.util.List;

/**
 * The measurements of an action.
 *
 * @param losses the losses of microbatches, from the stage with the head
 * @param squaredSums the squared gradient sum of each layer, from a norm
 */
public record ActionResult(List<MicrobatchLoss> losses, List<LayerSquaredSum> squaredSums) {
    public static final ActionResult NOTHING = new ActionResult(List.of(), List.of());

    public ActionResult {
        losses = List.copyOf(losses);
        squaredSums = List.copyOf(squaredSums);
    }
}
