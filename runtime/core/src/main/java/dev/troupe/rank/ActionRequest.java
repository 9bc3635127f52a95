package dev.troupe.rank;

import dev.troupe.protocol.Pass;
import dev.troupe.protocol.WeightUpdate;
import dev.troupe.schedule.Action;
import java.util.List;
import java.util.Optional;

/**
 * An action with what its stage needs to know.
 *
 * @param action what to do
 * @param sends the sends that follow it in the row: their tensors go to the transport when it is done
 * @param pass the pass it belongs to
 * @param update what was decided of a step, from its updates on
 */
public record ActionRequest(Action action, List<Action> sends, Pass pass, Optional<WeightUpdate> update) {
}
