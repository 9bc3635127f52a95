package dev.troupe.cli.report;

import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.StageCost;
import java.util.List;
import java.util.Optional;

/** The remark on a plan that fills its bubbles with gradients of frozen weights. */
public final class IdleWeights {
    private IdleWeights() {
    }

    /** Returns the remark on a plan in which backwards for the weights cost nothing; empty if it does not apply. */
    public static Optional<String> of(Plan plan) {
        boolean splits = plan.rows().stream().flatMap(List::stream)
                .anyMatch(action -> action.kind() == Kind.BACKWARD_WEIGHT);
        return splits
                ? Optional.of(plan.name() + " fills its bubbles with backwards for the weights (W), but frozen weights"
                        + " have none, so that there is nothing to fill them with; compare it with 1f1b and --costs"
                        + " 1,1,0")
                : Optional.empty();
    }

    /** As {@link #of(Plan)}, if no stage has costs of a backward for the weights. */
    public static Optional<String> of(Plan plan, Costs costs) {
        return costs.stages().stream().mapToLong(StageCost::backwardWeightNanos).allMatch(nanos -> nanos == 0)
                ? of(plan)
                : Optional.empty();
    }
}
