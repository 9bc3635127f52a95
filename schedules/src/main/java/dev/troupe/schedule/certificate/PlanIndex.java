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
 * The place of each action of a plan. A plan has an index only where each action exists, is on its rank and is there
 * once; the later checks depend on that.
 */
final class PlanIndex {
    private final Plan plan;
    private final Map<Action, Place> places = new HashMap<>();

    private PlanIndex(Plan plan) {
        this.plan = plan;
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

    /** Returns the place of an action; null if it is not in the plan. */
    Place find(Action action) {
        return places.get(action);
    }

    boolean has(Action action) {
        return places.containsKey(action);
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
        Place first = places.putIfAbsent(action, place);
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
        if (action.microbatch() >= plan.microbatchCount()) {
            throw refusal(place, "no such microbatch", action + " names microbatch " + action.microbatch()
                    + ", but the last microbatch of the plan is " + (plan.microbatchCount() - 1) + ".");
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
