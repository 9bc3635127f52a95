package dev.troupe.schedule.certificate;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import java.util.Set;

/** The check that each stage does all its work for each microbatch, once, in a possible order within its rank. */
final class ComputeCheck {
    private final PlanIndex index;
    private final Purpose purpose;

    ComputeCheck(PlanIndex index, Purpose purpose) {
        this.index = index;
        this.purpose = purpose;
    }

    void run() {
        Plan plan = index.plan();
        Set<Integer> replaying = plan.stagesThatReplay();
        for (int stage = 0; stage < plan.stageCount(); stage++) {
            for (int microbatch = 0; microbatch < plan.microbatchCount(); microbatch++) {
                Action forward = new Action(stage, Kind.FORWARD, microbatch);
                requireForward(forward);
                switch (purpose) {
                    case TRAINING -> {
                        requireBackward(forward);
                        if (replaying.contains(stage)) {
                            requireReplay(forward);
                        }
                    }
                    case FORWARD_ONLY -> requireNoBackward(forward);
                }
            }
        }
    }

    private void requireForward(Action forward) {
        if (index.has(forward)) {
            return;
        }
        for (Kind kind : Kind.values()) {
            if (kind.isCompute() && index.has(forward.as(kind))) {
                throw missing(index.find(forward.as(kind)), forward, forward.as(kind) + " has nothing to go back over");
            }
        }
        throw missing(index.endOf(index.plan().rankOf(forward)), forward,
                "stage " + forward.stage() + " never sees microbatch " + forward.microbatch());
    }

    private void requireBackward(Action forward) {
        Action whole = forward.as(Kind.FULL_BACKWARD);
        Action input = forward.as(Kind.BACKWARD_INPUT);
        Action weight = forward.as(Kind.BACKWARD_WEIGHT);
        boolean split = index.has(input) || index.has(weight);
        if (index.has(whole) && split) {
            Action half = index.has(input) ? input : weight;
            throw index.refusal(index.find(half), "twice the backward", half + " and " + whole
                    + " are both there, but B is I and W together: keep " + whole + ", or " + input + " and " + weight
                    + ".");
        }
        if (index.has(whole)) {
            requireOrder(forward, whole, "a backward needs its forward");
        } else if (split) {
            requireHalves(forward, input, weight);
        } else {
            throw missing(index.find(forward), whole, forward + " has no backward");
        }
    }

    private void requireHalves(Action forward, Action input, Action weight) {
        if (!index.has(weight)) {
            throw missing(index.find(input), weight, input + " has no other half");
        }
        if (!index.has(input)) {
            throw missing(index.find(weight), input, weight + " has no other half");
        }
        requireOrder(forward, input, "a backward needs its forward");
        requireOrder(input, weight, "the backward for the weights follows the one for the input");
    }

    /** Requires the replay of a microbatch between its forward and its backward. */
    private void requireReplay(Action forward) {
        Action replay = forward.as(Kind.RECOMPUTE);
        Action whole = forward.as(Kind.FULL_BACKWARD);
        Action backward = index.has(whole) ? whole : forward.as(Kind.BACKWARD_INPUT);
        if (!index.has(replay)) {
            throw missing(index.find(backward), replay, "stage " + forward.stage()
                    + " replays other microbatches ahead of their gradients, and " + backward
                    + " finds nothing replayed: a stage does so with all of its microbatches or with none");
        }
        requireOrder(forward, replay, "a replay starts from the tensors that its forward has kept");
        requireOrder(replay, backward, "a replay ends before its backward begins");
    }

    private void requireNoBackward(Action forward) {
        for (Kind kind : Kind.values()) {
            Action action = forward.as(kind);
            if (kind != Kind.FORWARD && kind.isCompute() && index.has(action)) {
                throw index.refusal(index.find(action), "nothing is trained",
                        action + " is for a backward, but the plan is for forwards only: take it out.");
            }
        }
    }

    private void requireOrder(Action first, Action second, String why) {
        if (!index.isBefore(first, second)) {
            throw index.refusal(index.find(second), "before " + first, second + " comes before " + first + ": " + why
                    + ", so move " + first + " in front of " + second + ".");
        }
    }

    private PlanException missing(Place place, Action action, String why) {
        return index.refusal(place, action + " is missing", action + " is missing: " + why + ".");
    }
}
