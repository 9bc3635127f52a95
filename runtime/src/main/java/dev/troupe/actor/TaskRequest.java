package dev.troupe.actor;

import dev.troupe.machine.Pass;
import dev.troupe.machine.StageTask;
import dev.troupe.machine.WeightUpdate;
import dev.troupe.schedule.Action;
import java.util.List;
import java.util.Optional;

/**
 * A task with what it needs to know.
 *
 * @param task
 *            what to do
 * @param sends
 *            the sends that follow it in the row: their tensors go to the transport when it is done
 * @param pass
 *            the pass it belongs to
 * @param update
 *            rate and scale, for {@link StageTask.Update}
 */
record TaskRequest(StageTask task, List<Action> sends, Pass pass, Optional<WeightUpdate> update) {
}
