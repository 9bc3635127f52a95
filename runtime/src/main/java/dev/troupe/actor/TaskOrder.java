package dev.troupe.actor;

import dev.troupe.machine.Pass;
import dev.troupe.machine.StageTask;
import dev.troupe.machine.WeightUpdate;
import java.util.Optional;

/**
 * A task with what it needs to know.
 *
 * @param task
 *            what to do
 * @param pass
 *            the pass it belongs to
 * @param update
 *            rate and scale, for {@link StageTask.Update}
 */
record TaskOrder(StageTask task, Pass pass, Optional<WeightUpdate> update) {
}
