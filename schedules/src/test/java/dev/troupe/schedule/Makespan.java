package dev.troupe.schedule;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** How long a plan takes that only computes, if messages take no time: F, I and W one unit each, B two. */
public final class Makespan {
    private final Plan plan;
    private final Map<Action, Integer> ends = new HashMap<>();

    private Makespan(Plan plan) {
        this.plan = plan;
    }

    /** The end of the last action; the plan must be one that comes to its end. */
    public static int of(Plan plan) {
        return new Makespan(plan).run();
    }

    private int run() {
        int[] position = new int[plan.rankCount()];
        int[] clock = new int[plan.rankCount()];
        int left = plan.rows().stream().mapToInt(List::size).sum();
        while (left > 0) {
            for (int rank = 0; rank < plan.rankCount(); rank++) {
                List<Action> row = plan.rows().get(rank);
                if (position[rank] < row.size() && ready(row.get(position[rank])) >= 0) {
                    Action action = row.get(position[rank]++);
                    int units = action.kind() == Kind.FULL_BACKWARD ? 2 : 1;
                    clock[rank] = Math.max(clock[rank], ready(action)) + units;
                    ends.put(action, clock[rank]);
                    left--;
                }
            }
        }
        return Arrays.stream(clock).max().orElseThrow();
    }

    /** When the input of an action is there; -1 if not yet known. */
    private int ready(Action action) {
        int stage = action.stage();
        if (action.kind() == Kind.FORWARD) {
            return stage == 0 ? 0 : ends.getOrDefault(new Action(stage - 1, Kind.FORWARD, action.microbatch()), -1);
        }
        if (!action.kind().makesInputGradient() || stage == plan.lastStage()) {
            return 0;
        }
        Action whole = new Action(stage + 1, Kind.FULL_BACKWARD, action.microbatch());
        return ends.getOrDefault(whole, ends.getOrDefault(whole.as(Kind.BACKWARD_INPUT), -1));
    }
}
