package dev.troupe.schedule.lowering;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Plan;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Stream;

/** The common part of passes that add work at the end of a step. */
final class StepTail {
    private StepTail() {
    }

    /** Returns the plan with these actions after the row of each rank; its pairs remain. */
    static Plan append(Plan plan, IntFunction<List<Action>> ofRank) {
        List<List<Action>> rows = new ArrayList<>();
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            List<Action> row = new ArrayList<>(plan.rows().get(rank));
            row.addAll(ofRank.apply(rank));
            rows.add(row);
        }
        return plan.withRows(rows, plan.overlaps());
    }

    /**
     * Returns the plan, with overlapping steps, with these actions after the gradients of each step: after a stage's last
     * backward (of the replica's in a round), its messages, and other actions of the step.
     */
    static Plan afterGradients(Plan plan, BiFunction<Integer, Integer, List<Action>> ofStageAndStep) {
        List<List<Action>> rows = new ArrayList<>();
        for (List<Action> old : plan.rows()) {
            Map<List<Integer>, Integer> last = new HashMap<>();
            for (int position = 0; position < old.size(); position++) {
                if (old.get(position).kind().freesActivation()) {
                    last.put(stageAndStep(plan, old.get(position)), position);
                }
            }
            List<Action> row = new ArrayList<>();
            List<Action> due = new ArrayList<>();
            List<Integer> ended = List.of();
            for (int position = 0; position < old.size(); position++) {
                Action action = old.get(position);
                if (action.kind() == Kind.UPDATE || !action.kind().isSend() && action.kind().isPerMicrobatch()
                        || !stageAndStep(plan, action).equals(ended)) {
                    row.addAll(due);
                    due.clear();
                }
                row.add(action);
                if (Integer.valueOf(position).equals(last.get(stageAndStep(plan, action)))) {
                    ended = stageAndStep(plan, action);
                    due.addAll(ofStageAndStep.apply(action.stage(), lastOfRound(plan, action)));
                }
            }
            row.addAll(due);
            rows.add(row);
        }
        return plan.withRows(rows);
    }

    /** Returns a stage and a step, or, if the stage has several ranks, the round of steps of one update. */
    private static List<Integer> stageAndStep(Plan plan, Action action) {
        return List.of(action.stage(), plan.updatesBefore(action.stage(), plan.stepOf(action)));
    }

    /** Returns the step after which a stage applies the gradient of an action. */
    private static int lastOfRound(Plan plan, Action action) {
        int replicas = plan.replicas(action.stage());
        return (plan.updatesBefore(action.stage(), plan.stepOf(action)) + 1) * replicas - 1;
    }

    /** Returns the plan, with overlapping steps, with these actions before each update. */
    static Plan beforeUpdates(Plan plan, BiFunction<Integer, Integer, List<Action>> ofStageAndStep) {
        return aroundUpdates(plan, update -> Stream.concat(
                ofStageAndStep.apply(update.stage(), plan.stepOf(update)).stream(), Stream.of(update)));
    }

    /** Returns the plan, with overlapping steps, with these actions after each update. */
    static Plan afterUpdates(Plan plan, BiFunction<Integer, Integer, List<Action>> ofStageAndStep) {
        return aroundUpdates(plan, update -> Stream.concat(Stream.of(update),
                ofStageAndStep.apply(update.stage(), plan.stepOf(update)).stream()));
    }

    private static Plan aroundUpdates(Plan plan, Function<Action, Stream<Action>> ofUpdate) {
        return plan.withRows(plan.rows().stream()
                .map(row -> row.stream()
                        .flatMap(action -> action.kind() == Kind.UPDATE ? ofUpdate.apply(action) : Stream.of(action))
                        .toList())
                .toList());
    }
}
