package dev.troupe.schedule.lowering;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import java.util.ArrayList;
import java.util.List;

/**
 * The pass that ends every row with the norms of its stages and, after the coordinator's decision, with their updates.
 *
 * <pre>
 *   ... 0B3 2B3   =>   ... 0B3 2B3 0NORM 2NORM 0UPDATE 2UPDATE
 * </pre>
 *
 * <p>If steps overlap, updates are in the plan already, and a norm follows the gradients of its step, so that the decision
 * is made when a row comes to the update.
 *
 * @param gathers whether a rank updates only a share of the weights (ZeRO 1 and 2); an {@code UNSHARD} after each update
 *     then gathers the shares of the others
 */
public record AddNormAndUpdate(boolean gathers) implements LoweringPass {
    @Override
    public Plan apply(Plan plan) {
        if (plan.overlapsSteps()) {
            Plan measured = StepTail.afterGradients(plan,
                    (stage, step) -> List.of(new Action(stage, Kind.NORM, step)));
            return gathers
                    ? StepTail.afterUpdates(measured, (stage, step) -> List.of(new Action(stage, Kind.UNSHARD, step)))
                    : measured;
        }
        return StepTail.append(plan, rank -> {
            List<Action> tail = new ArrayList<>();
            plan.stagesOf(rank).forEach(stage -> tail.add(new Action(stage, Kind.NORM)));
            for (int stage : plan.stagesOf(rank)) {
                tail.add(new Action(stage, Kind.UPDATE));
                if (gathers) {
                    tail.add(new Action(stage, Kind.UNSHARD));
                }
            }
            return tail;
        });
    }
}
