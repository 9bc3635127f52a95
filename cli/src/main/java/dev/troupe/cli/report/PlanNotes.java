package dev.troupe.cli.report;

import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.StageCost;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The notes on a plan that is likely to leave ranks idle, a line each. */
public final class PlanNotes {
    /** Microbatches for each rank from which the bubble of GPipe is small (Huang et al. 2019, section 2.3: M >= 4 K). */
    private static final int ENOUGH_FOR_A_RANK = 4;

    private PlanNotes() {
    }

    /**
     * Returns the notes on a plan.
     *
     * @param isFrozen whether most weights have no gradients
     */
    public static List<String> of(Plan plan, boolean isFrozen) {
        return Stream.of(fewMicrobatches(plan), isFrozen ? idleWeights(plan) : Optional.<String>empty())
                .flatMap(Optional::stream).map(note -> "Note: " + note + ".").toList();
    }

    /** As {@link #of(Plan, boolean)}, by the costs of the backwards for the weights; with line ends. */
    public static String of(Plan plan, Costs costs) {
        boolean isFrozen = costs.stages().stream().mapToLong(StageCost::backwardWeightNanos)
                .allMatch(nanos -> nanos == 0);
        return of(plan, isFrozen).stream().map(note -> note + "\n").collect(Collectors.joining());
    }

    /** Steps that overlap do not drain the pipeline. */
    private static Optional<String> fewMicrobatches(Plan plan) {
        int ranks = plan.rankCount();
        long enough = (long) ENOUGH_FOR_A_RANK * ranks;
        int microbatches = plan.microbatchesPerStep();
        return ranks == 1 || plan.stepCount() > 1 || plan.continues() || microbatches >= enough
                ? Optional.empty()
                : Optional.of(microbatches + (microbatches == 1 ? " microbatch is" : " microbatches are")
                        + " fewer than " + ENOUGH_FOR_A_RANK + " for each of " + ranks
                        + " ranks, the rule of thumb for a small bubble: it has " + enough + " or more");
    }

    private static Optional<String> idleWeights(Plan plan) {
        boolean splits = plan.rows().stream().flatMap(List::stream)
                .anyMatch(action -> action.kind() == Kind.BACKWARD_WEIGHT);
        return splits
                ? Optional.of(plan.name() + " fills its bubbles with backwards for the weights (W), but frozen weights"
                        + " have none, so that there is nothing to fill them with; compare it with 1f1b and --costs"
                        + " 1,1,0")
                : Optional.empty();
    }
}
