package dev.troupe.schedule;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Passes over the backwards of a plan. B is I and W together: two neighbours may become one action, which saves the
 * cost of one; one action may become two, so that a later pass can move the W.
 *
 * <pre>
 * merge   0F0 0I0 0W0 0I1 0F1 0W1   =>   0F0 0B0 0I1 0F1 0W1
 * split   0F0 0B0 0F1               =>   0F0 0I0 0W0 0F1
 * splitCoolDown
 *         0F0 0F1 0B0 0B1                0F0 0F1 0B0 0B1
 *             1F0 1B0 1F1 1B1       =>       1F0 1B0 1F1 1I1 1W1
 * </pre>
 *
 * <p>These passes take plans that only compute; lowering comes afterwards.
 */
public final class Backwards {
    private Backwards() {
    }

    /** Returns the plan with each I and the W of the same stage and microbatch right behind it made one B. */
    public static Plan merge(Plan plan) {
        return rewrite(plan, (row, position) -> {
            Action input = row.get(position);
            boolean merges = input.kind() == Kind.BACKWARD_INPUT && position + 1 < row.size()
                    && row.get(position + 1).equals(input.as(Kind.BACKWARD_WEIGHT));
            return merges ? new Step(2, List.of(input.as(Kind.FULL_BACKWARD))) : new Step(1, List.of(input));
        });
    }

    /** Returns the plan with each B made an I and a W right behind it; of a pair the I stays in the pair. */
    public static Plan split(Plan plan) {
        return rewrite(plan, (row, position) -> {
            Action whole = row.get(position);
            return new Step(1, whole.kind() == Kind.FULL_BACKWARD ? halves(whole) : List.of(whole));
        });
    }

    /**
     * Returns the plan with each B split that sends a gradient to another rank and has no forward behind it on its own.
     * In the cool-down the ranks before wait for that gradient and for nothing else, so that leaving before the W it
     * makes a step of one stage a rank shorter by P-1 times a W. Elsewhere a rank has other work, and B keeps less than
     * I and W.
     */
    public static Plan splitCoolDown(Plan plan) {
        return rewrite(plan, (row, position) -> {
            Action whole = row.get(position);
            boolean splits = whole.kind() == Kind.FULL_BACKWARD && plan.needsMessage(whole.as(Kind.SEND_B))
                    && row.subList(position, row.size()).stream().noneMatch(later -> later.kind() == Kind.FORWARD);
            return new Step(1, splits ? halves(whole) : List.of(whole));
        });
    }

    private static List<Action> halves(Action whole) {
        return List.of(whole.as(Kind.BACKWARD_INPUT), whole.as(Kind.BACKWARD_WEIGHT));
    }

    /** The number of actions of the old row that a pass has read, and the actions that it writes for them. */
    private record Step(int read, List<Action> written) {
    }

    private interface Pass {
        Step at(List<Action> row, int position);
    }

    private static Plan rewrite(Plan plan, Pass pass) {
        List<List<Action>> rows = new ArrayList<>();
        Set<Place> overlaps = new HashSet<>();
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            List<Action> old = plan.rows().get(rank);
            List<Action> row = new ArrayList<>();
            int position = 0;
            while (position < old.size()) {
                if (plan.overlaps().contains(new Place(rank, position))) {
                    overlaps.add(new Place(rank, row.size()));
                }
                Step step = pass.at(old, position);
                row.addAll(step.written());
                position += step.read();
            }
            rows.add(row);
        }
        return plan.withRows(rows, overlaps);
    }
}
