package dev.troupe.schedule.certificate;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The proof by induction that a plan with overlapping steps can repeat one block of its rows forever. On each rank the block
 * of a step is from its update to the next step's. All ranks reach the beginning of the block, and from there its end,
 * within the credits. The state at the end equals the state at the beginning, one step later: the next step is computed
 * except for its update, and the work done for later steps, their weight versions and the messages in flight are the same.
 * So the block can follow itself, and a plan of more steps has the same peaks, live versions and staleness. With replicas,
 * the block has the steps of a round of all stages.
 *
 * @param step the step with the update at which the block begins
 * @param block for each rank, the actions of the block
 */
public record SteadyState(int step, List<List<Action>> block) {
    public SteadyState {
        block = block.stream().map(List::copyOf).toList();
    }

    /** Returns the first block of a certified plan that repeats; empty if none of its blocks does. */
    static Optional<SteadyState> of(Plan plan, int creditsPerEdge) {
        PlanIndex index = PlanIndex.of(plan);
        int round = plan.stepsPerRound();
        for (int step = round - 1; step + round < plan.stepCount(); step += round) {
            int[] begin = cut(plan, step);
            int[] end = cut(plan, step + round);
            DryRun run = DryRun.withCredits(index, creditsPerEdge);
            if (run.walkTo(begin)) {
                Map<StageEdge, List<Integer>> before = later(run.inFlight(),
                        round * plan.microbatchesPerStep());
                if (run.walkTo(end) && before.equals(run.inFlight()) && repeats(plan, step, begin, end)) {
                    return Optional.of(new SteadyState(step, IntStream.range(0, plan.rankCount())
                            .mapToObj(rank -> plan.rows().get(rank).subList(begin[rank], end[rank])).toList()));
                }
            }
        }
        return Optional.empty();
    }

    /** Returns for each rank the position of its first update of a step. */
    private static int[] cut(Plan plan, int step) {
        return plan.rows().stream().mapToInt(row -> IntStream.range(0, row.size())
                .filter(position -> row.get(position).kind() == Kind.UPDATE && plan.stepOf(row.get(position)) == step)
                .findFirst().orElseThrow()).toArray();
    }

    /** Returns the same messages, with larger numbers of their microbatches. */
    private static Map<StageEdge, List<Integer>> later(Map<StageEdge, List<Integer>> messages, int numbers) {
        Map<StageEdge, List<Integer>> shifted = new HashMap<>();
        messages.forEach((edge, microbatches) -> shifted.put(edge,
                microbatches.stream().map(microbatch -> microbatch + numbers).toList()));
        return shifted;
    }

    private static boolean repeats(Plan plan, int step, int[] begin, int[] end) {
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            List<Action> row = plan.rows().get(rank);
            boolean isComputed = row.subList(begin[rank], row.size()).stream()
                    .noneMatch(action -> action.kind().isPerMicrobatch() && plan.stepOf(action) <= step);
            List<Action> before = row.subList(0, begin[rank]);
            List<Action> after = row.subList(0, end[rank]);
            if (!isComputed || !ofLaterSteps(plan, before, step, plan.stepsPerRound())
                    .equals(ofLaterSteps(plan, after, step + plan.stepsPerRound(), 0))) {
                return false;
            }
        }
        return true;
    }

    /** Returns the actions that belong to later steps, with numbers some steps later. */
    private static Set<Action> ofLaterSteps(Plan plan, List<Action> done, int step, int steps) {
        Set<Action> ofLater = new HashSet<>();
        for (Action action : done) {
            if (plan.stepOf(action) > step) {
                int moved = action.microbatch()
                        + steps * (action.kind().isPerMicrobatch() ? plan.microbatchesPerStep() : 1);
                ofLater.add(new Action(action.stage(), action.kind(), moved,
                        action.namesVersion()
                                ? action.version() + plan.updatesBefore(action.stage(), steps)
                                : action.version()));
            }
        }
        return ofLater;
    }
}
