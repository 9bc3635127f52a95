package dev.troupe.rank;

import dev.troupe.protocol.Pass;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.schedule.Action;
import java.util.List;
import java.util.Optional;

/**
 * An order to a stage.
 *
 * @param sends the sends that follow in the row: when the action is done, their tensors go to the transport
 * @param update the decision on the weights of the step; present only for updates
 */
public record ActionRequest(Action action, List<Action> sends, Pass pass, Optional<WeightUpdate> update) {
}
