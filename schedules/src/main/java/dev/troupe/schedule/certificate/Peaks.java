package dev.troupe.schedule.certificate;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.PlanException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The largest numbers of activations and of replays that each rank holds, and their check against the declared ones. */
final class Peaks {
    private final PlanIndex index;
    private final Purpose purpose;

    Peaks(PlanIndex index, Purpose purpose) {
        this.index = index;
        this.purpose = purpose;
    }

    List<Integer> all() {
        List<Integer> peaks = new ArrayList<>();
        for (int rank = 0; rank < index.plan().rankCount(); rank++) {
            peaks.add(peak(rank, Integer.MAX_VALUE));
        }
        return peaks;
    }

    /**
     * Returns for each rank the most replays that it holds at one time; each lives from its RECOMPUTE to the end of its B
     * or I.
     */
    List<Integer> replays() {
        return IntStream.range(0, index.plan().rankCount()).mapToObj(rank -> replays(rank, Integer.MAX_VALUE)).toList();
    }

    private int replays(int rank, int declared) {
        List<Action> row = index.plan().rows().get(rank);
        int live = 0;
        int peak = 0;
        for (int position = 0; position < row.size(); position++) {
            Action action = row.get(position);
            if (action.kind() == Kind.RECOMPUTE && ++live > declared) {
                throw index.refusal(new Place(rank, position), live + " live, " + declared + " declared", action
                        + " makes " + live + " live replays on rank " + rank + ", above the declared peak of "
                        + declared
                        + ": declare more, or put a backward before it.");
            }
            peak = Math.max(peak, live);
            live -= action.kind().makesInputGradient() && index.has(action.as(Kind.RECOMPUTE)) ? 1 : 0;
        }
        return peak;
    }

    /** Refuses a plan with more activations or replays on a rank than declared. */
    void requireAtMost(List<Integer> activations, List<Integer> replays) {
        requireOneForEachRank(activations);
        requireOneForEachRank(replays);
        for (int rank = 0; rank < activations.size(); rank++) {
            peak(rank, activations.get(rank));
            replays(rank, replays.get(rank));
        }
    }

    private void requireOneForEachRank(List<Integer> declared) {
        Plan plan = index.plan();
        if (declared.size() != plan.rankCount()) {
            throw new PlanException("Plan \"" + plan.name() + "\" has " + plan.rankCount()
                    + " ranks, but peaks are declared for " + declared.size() + ".");
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
