package dev.troupe.schedule.certificate;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Mark;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The places of the actions of a plan, found without their weight versions. The index exists only if each action exists
 * once, on its rank, on which later checks rely. An action that every replica of a stage does once in a step is found by its
 * rank.
 */
final class PlanIndex {
    private final Plan plan;
    private final boolean overlapsSteps;
    private final Map<Action, Place> places = new HashMap<>();
    /** By rank, the actions that are done once in a step. */
    private final List<Map<Action, Place>> ofSteps = new ArrayList<>();

    private PlanIndex(Plan plan) {
        this.plan = plan;
        this.overlapsSteps = plan.overlapsSteps();
    }

    static PlanIndex of(Plan plan) {
        PlanIndex index = new PlanIndex(plan);
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            index.ofSteps.add(new HashMap<>());
            for (int position = 0; position < plan.rows().get(rank).size(); position++) {
                index.add(new Place(rank, position));
            }
        }
        return index;
    }

    Plan plan() {
        return plan;
    }

    boolean overlapsSteps() {
        return overlapsSteps;
    }

    /** Returns the place of an action, on the first replica that may do it; null if it is absent. */
    Place find(Action action) {
        return find(action.kind().isPerMicrobatch() ? 0 : plan.rankOf(action), action);
    }

    /**
     * Returns the place of an action, or null if it is absent; an action that is done once in a step is found in the row of
     * this rank.
     */
    Place find(int rank, Action action) {
        return action.kind().isPerMicrobatch() ? places.get(action.work()) : ofSteps.get(rank).get(action);
    }

    boolean has(Action action) {
        return find(action) != null;
    }

    boolean has(int rank, Action action) {
        return find(rank, action) != null;
    }

    /** Returns whether an action comes before another in their common row; both must be present. */
    boolean isBefore(Action first, Action second) {
        return find(first).position() < find(second).position();
    }

    /** Returns whether an action comes before another in the row of a rank; both must be present. */
    boolean isBefore(int rank, Action first, Action second) {
        return find(rank, first).position() < find(rank, second).position();
    }

    /** Returns the place after the last action of a rank, to mark a missing action. */
    Place endOf(int rank) {
        return new Place(rank, plan.rows().get(rank).size());
    }

    PlanException refusal(Place place, String caption, String sentence) {
        String whole = "Plan \"" + plan.name() + "\", rank " + place.rank() + ", position " + place.position() + ": "
                + sentence;
        return new PlanException(whole, plan, List.of(new Mark(place, caption)));
    }

    private void add(Place place) {
        Action action = plan.at(place);
        requireInRange(place, action);
        requireOnItsRank(place, action);
        Map<Action, Place> known = action.kind().isPerMicrobatch() ? places : ofSteps.get(place.rank());
        Place first = known.putIfAbsent(action.work(), place);
        if (first != null) {
            throw refusal(place, "again", action + " occurs twice, first at position " + first.position()
                    + " already: take one of them out.");
        }
    }

    private void requireInRange(Place place, Action action) {
        if (action.stage() >= plan.stageCount()) {
            throw refusal(place, "no such stage", action + " names stage " + action.stage()
                    + ", but the last stage of the plan is " + plan.lastStage() + ".");
        }
        if (!action.kind().isPerMicrobatch()) {
            requireStep(place, action);
        } else if (action.microbatch() >= plan.microbatchCount()) {
            throw refusal(place, "no such microbatch", action + " names microbatch " + action.microbatch()
                    + ", but the last microbatch of the plan is " + (plan.microbatchCount() - 1) + ".");
        }
    }

    private void requireStep(Place place, Action action) {
        if (action.microbatch() >= plan.stepCount()) {
            throw refusal(place, "no such step", action + " names step " + action.microbatch()
                    + ", but the last step of the plan is " + (plan.stepCount() - 1) + ".");
        }
        if (overlapsSteps && action.microbatch() == Action.WHOLE_STEP) {
            throw refusal(place, "of which step?", action + " names no step, but the steps of the plan overlap: write "
                    + action + "0, or the step that it belongs to.");
        }
    }

    private void requireOnItsRank(Place place, Action action) {
        boolean isAlternating = plan.replicas(action.stage()) > 1 && action.kind().isPerMicrobatch();
        if (!isAlternating && plan.ranksOf(action.stage()).contains(place.rank())) {
            return;
        }
        int home = plan.rankOf(action);
        if (home != place.rank()) {
            throw refusal(place, "belongs to rank " + home, action + " is on the wrong rank: the placement "
                    + plan.placement() + " puts " + (isAlternating ? "microbatch " + action.microbatch() + " of " : "")
                    + "stage " + action.stage() + " on rank " + home + ".");
        }
    }
}
