package dev.troupe.schedule.lowering;

import java.util.List;

import dev.troupe.schedule.Plan;

/**
 * Puts one kind of work that a schedule does not say into its plan. Pure; a pass changes nothing of what is in the plan
 * already, so what is wrong there is wrong in the result.
 */
@FunctionalInterface
public interface LoweringPass {
    /** The plan with that work in it. */
    Plan apply(Plan plan);

    /** A plan lowered by several passes, one after the other. */
    static Plan lower(Plan plan, List<LoweringPass> passes) {
        Plan lowered = plan;
        for (LoweringPass pass : passes) {
            lowered = pass.apply(lowered);
        }
        return lowered;
    }
}
