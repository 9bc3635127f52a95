package dev.troupe.plan;

import dev.troupe.config.spec.InvariantSpec;
import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The checks of a run that adds the gradients of a step in one balanced tree ({@code parallel.invariant}). */
final class TreeChecks {
    private static final String KEY = InvariantSpec.KEY;

    private TreeChecks() {
    }

    /**
     * Refuses a plan with overlapping steps, or with gradients of a stage in an order that is neither ascending nor
     * descending.
     *
     * @throws UsageException with a sentence
     */
    static void require(Plan compute) {
        if (compute.overlapsSteps()) {
            throw new UsageException(KEY + ": the steps of this schedule overlap, and each stage updates its weights by"
                    + " itself: leave the key out, or set parallel.schedule to a synchronous one, such as 1f1b");
        }
        for (List<Action> row : compute.rows()) {
            gradients(row).forEach((stage, microbatches) -> {
                if (!isOrdered(microbatches)) {
                    throw new UsageException(KEY + ": the plan computes the gradients of stage " + stage
                            + " for microbatches " + microbatches
                            + ", but a tree adds them in ascending or in descending"
                            + " order: change the plan, or leave the key out");
                }
            });
        }
    }

    /** Returns the microbatches of each stage's gradients of weights, in the order of the row. */
    private static Map<Integer, List<Integer>> gradients(List<Action> row) {
        return row.stream().filter(
                action -> action.kind() == Kind.FULL_BACKWARD || action.kind() == Kind.BACKWARD_WEIGHT)
                .collect(Collectors.groupingBy(Action::stage, TreeMap::new,
                        Collectors.mapping(Action::microbatch, Collectors.toList())));
    }

    private static boolean isOrdered(List<Integer> numbers) {
        return IntStream.range(1, numbers.size()).allMatch(i -> numbers.get(i - 1) < numbers.get(i))
                || IntStream.range(1, numbers.size()).allMatch(i -> numbers.get(i - 1) > numbers.get(i));
    }
}
