package dev.troupe.schedule.certificate;

import java.util.ArrayList;
import java.util.List;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;

/** The largest number of activations that each rank holds, and its check against the declared one. */
final class Peaks {
    private final PlanIndex index;
    private final Purpose purpose;

    Peaks(PlanIndex index, Purpose purpose) {
        this.index = index;
        this.purpose = purpose;
    }

    /** Returns the peak of each rank. */
    List<Integer> all() {
        List<Integer> peaks = new ArrayList<>();
        for (int rank = 0; rank < index.plan().rankCount(); rank++) {
            peaks.add(peak(rank, Integer.MAX_VALUE));
        }
        return peaks;
    }

    /** Refuses a plan in which a rank holds more than was declared for it. */
    void requireAtMost(List<Integer> declared) {
        Plan plan = index.plan();
        if (declared.size() != plan.rankCount()) {
            throw new PlanException("Plan \"" + plan.name() + "\" has " + plan.rankCount()
                    + " ranks, but peaks are declared for " + declared.size() + ".");
        }
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            peak(rank, declared.get(rank));
        }
    }

    private int peak(int rank, int declared) {
        List<Action> row = index.plan().rows().get(rank);
        int live = 0;
        int peak = 0;
        for (int position = 0; position < row.size(); position++) {
            Action action = row.get(position);
            if (action.kind() == Kind.FORWARD) {
                live++;
                peak = Math.max(peak, live);
                if (live > declared) {
                    throw index.refusal(new Place(rank, position), live + " live, " + declared + " declared",
                            action + " makes " + live + " live activations on rank " + rank
                                    + ", above the declared peak of "
                                    + declared + ": declare more, or put a backward before it.");
                }
            }
            boolean frees = switch (purpose) {
                case TRAINING -> action.kind().freesActivation();
                case FORWARD_ONLY -> action.kind() == Kind.FORWARD;
            };
            live -= frees ? 1 : 0;
        }
        return peak;
    }
}
