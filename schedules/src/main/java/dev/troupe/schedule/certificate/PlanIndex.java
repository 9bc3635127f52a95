package dev.troupe.schedule.certificate;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Mark;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;

/**
 * The place of each action of a plan, whatever version of the weights it reads. A plan has an index only where each action
 * exists, is on its rank and is there once; the later checks depend on that.
 */
final class PlanIndex {
    private final Plan plan;
    private final boolean overlapsSteps;
    private final Map<Action, Place> places = new HashMap<>();

    private PlanIndex(Plan plan) {
        this.plan = plan;
        this.overlapsSteps = plan.overlapsSteps();
    }

    static PlanIndex of(Plan plan) {
        PlanIndex index = new PlanIndex(plan);
        for (int rank = 0; rank < plan.rankCount(); rank++) {
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

    /** Returns the place of an action; null if it is not in the plan. */
    Place find(Action action) {
        return places.get(action.work());
    }

    boolean has(Action action) {
        return places.containsKey(action.work());
    }

    /** Returns whether an action comes before another in their common row; both must be in it. */
    boolean isBefore(Action first, Action second) {
        return find(first).position() < find(second).position();
    }

    /** Returns the place behind the last action of a rank, to mark a missing action. */
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
        Place first = places.putIfAbsent(action.work(), place);
        if (first != null) {
            throw refusal(place, "again", action + " is doubled, it stands at position " + first.position()
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
        int home = plan.rankOf(action.stage());
        if (home != place.rank()) {
            throw refusal(place, "belongs to rank " + home, action + " is on the wrong rank: the placement "
                    + plan.placement() + " puts stage " + action.stage() + " on rank " + home + ".");
        }
    }
}
