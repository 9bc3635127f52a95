package dev.troupe.schedule.lowering;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;

/**
 * The pass that ends every row with the snapshots from which its stages restart.
 *
 * <pre>
 *   ... 0UPDATE 2UPDATE   =>   ... 0UPDATE 2UPDATE 0SNAPSHOT 2SNAPSHOT
 * </pre>
 */
public record AddSnapshot() implements LoweringPass {
    @Override
    public Plan apply(Plan plan) {
        int step = plan.overlapsSteps() ? plan.stepCount() - 1 : Action.WHOLE_STEP;
        return StepTail.append(plan, rank -> plan.stagesOf(rank).stream()
                .map(stage -> new Action(stage, Kind.SNAPSHOT, step)).toList());
    }
}
