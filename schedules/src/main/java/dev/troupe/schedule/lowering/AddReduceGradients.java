package dev.troupe.schedule.lowering;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;

/**
 * Ends every row with the sums of gradients over the ranks that hold the same weights, stage by stage.
 *
 * <pre>
 *   ... 0B3 2B3   =>   ... 0B3 2B3 0REDUCE_GRAD 2REDUCE_GRAD
 * </pre>
 *
 * <p>A stage may begin with a layer's sums as soon as its last backward has passed the layer; the action waits for all.
 */
public record AddReduceGradients() implements LoweringPass {
    @Override
    public Plan apply(Plan plan) {
        return Rows.append(plan, rank -> plan.stagesOf(rank).stream()
                .map(stage -> new Action(stage, Kind.REDUCE_GRAD)).toList());
    }
}
