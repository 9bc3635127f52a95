package dev.troupe.schedule.lowering;

import dev.troupe.schedule.Plan;
import java.util.List;

/**
 * A pass that adds one kind of work to the plan of a schedule. Pure; a pass changes no action of the plan, so an error of
 * the plan remains in the result.
 */
@FunctionalInterface
public interface LoweringPass {
    Plan apply(Plan plan);

    static Plan lower(Plan plan, List<LoweringPass> passes) {
        Plan lowered = plan;
        for (LoweringPass pass : passes) {
            lowered = pass.apply(lowered);
        }
        return lowered;
    }
}
