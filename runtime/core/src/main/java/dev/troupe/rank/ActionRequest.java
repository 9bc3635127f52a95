package dev.troupe.rank;

import dev.troupe.protocol.Pass;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.schedule.Action;
import java.util.List;
import java.util.Optional;

/**
 * An order to a stage: an action with its pass and its sends.
 *
 * @param sends the sends that follow it in the row: their tensors go to the transport when it is done
 * @param pass the pass of the action
 * @param update the decision on the weights of the step; present for its updates
 */
public record ActionRequest(Action action, List<Action> sends, Pass pass, Optional<WeightUpdate> update) {
}
