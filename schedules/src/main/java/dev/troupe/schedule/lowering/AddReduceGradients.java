package dev.troupe.schedule.lowering;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import java.util.List;

/**
 * The pass that ends every row with the sums of gradients over the ranks that hold the same weights, stage by stage.
 *
 * <pre>
 *   ... 0B3 2B3   =>   ... 0B3 2B3 0REDUCE_GRAD 2REDUCE_GRAD
 * </pre>
 *
 * <p>A stage may add up a layer's gradients as soon as its last backward has left that layer; the action waits for the sums
 * of all layers. If steps overlap, the action is right after the last backward of its step, so that the sums are complete
 * before the next step's backwards.
 *
 * @param onlyReplicated if steps overlap: whether a stage on a single rank has no such action
 */
public record AddReduceGradients(boolean onlyReplicated) implements LoweringPass {
    /** Creates the pass for every stage. */
    public AddReduceGradients() {
        this(false);
    }

    @Override
    public Plan apply(Plan plan) {
        if (plan.overlapsSteps()) {
            return StepTail.afterGradients(plan, (stage, step) -> onlyReplicated && plan.replicas(stage) == 1
                    ? List.of()
                    : List.of(new Action(stage, Kind.REDUCE_GRAD, step)));
        }
        return StepTail.append(plan, rank -> plan.stagesOf(rank).stream()
                .map(stage -> new Action(stage, Kind.REDUCE_GRAD)).toList());
    }
}
