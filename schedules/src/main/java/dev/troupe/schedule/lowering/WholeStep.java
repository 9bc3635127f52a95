package dev.troupe.schedule.lowering;

import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Replicas;
import java.util.ArrayList;
import java.util.List;

/**
 * The list of passes that lower a plan to the whole step, chosen by how ranks hold their weights.
 *
 * @param replaysAhead whether forwards are computed again before their gradients arrive
 * @param sharesParameter whether the first and the last stage have a parameter in common
 * @param gathersWeights whether a rank holds only a share of the weights (ZeRO 3)
 * @param sumsGradients whether the gradients of all stages are summed over ranks once in a step, not only those among
 *     replicas
 * @param gathersUpdates whether a rank updates only a share of its weights (ZeRO 1 and 2)
 */
public record WholeStep(boolean replaysAhead, boolean sharesParameter, boolean gathersWeights, boolean sumsGradients,
        boolean gathersUpdates) {
    public Plan training(Plan compute) {
        List<LoweringPass> passes = new ArrayList<>();
        if (replaysAhead) {
            passes.add(new AddRecompute());
        }
        passes.addAll(weights());
        List<LoweringPass> shared = sharesParameter
                ? List.of(new AddSharedGradients(AddSharedGradients.between(0, compute.stageCount() - 1)))
                : List.of();
        List<LoweringPass> sums = sumsGradients || compute.placement() instanceof Replicas
                ? List.of(new AddReduceGradients(!sumsGradients))
                : List.of();
        // If steps overlap, the last stage adds the first one's gradient long after its own norm, so both must be sums by
        // then.
        boolean sumsEnds = compute.overlapsSteps() && compute.stageCount() > 1;
        passes.addAll(sumsEnds ? sums : shared);
        passes.addAll(sumsEnds ? shared : sums);
        passes.add(new AddNormAndUpdate(gathersUpdates));
        passes.add(new AddSnapshot());
        return LoweringPass.lower(compute, passes);
    }

    public Plan forwards(Plan compute) {
        return LoweringPass.lower(compute, weights());
    }

    private List<LoweringPass> weights() {
        return gathersWeights ? List.of(new AddTransfers(), new AddUnshard()) : List.of(new AddTransfers());
    }
}
