package dev.troupe.schedule.builder;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Another schedule with early gradients in the cool-down: each B that sends a gradient to another rank, and has no
 * forward after it on its own, becomes an I followed by a W.
 *
 * <pre>
 * 0F0 0F1 0B0 0B1          0F0 0F1 0B0 0B1
 *     1F0 1B0 1F1 1B1  =>      1F0 1B0 1F1 1I1 1W1
 * </pre>
 *
 * <p>In the cool-down the ranks before wait for that gradient and for nothing else, so that sending it before the W makes a
 * step of one stage a rank shorter by P-1 times a W. Elsewhere a rank has other work, and one B costs less than I and W.
 *
 * @param whole the other schedule, with the same name
 */
public record SplitCoolDown(Schedule whole) implements Schedule {
    @Override
    public String name() {
        return whole.name();
    }

    @Override
    public int usualVirtualStages() {
        return whole.usualVirtualStages();
    }

    @Override
    public Plan plan(int pipeline, int virtualStages, int microbatches) {
        return split(whole.plan(pipeline, virtualStages, microbatches));
    }

    /** Splits backwards of a plan that only computes; the I stays in a pair. */
    static Plan split(Plan plan) {
        List<List<Action>> rows = new ArrayList<>();
        Set<Place> overlaps = new HashSet<>();
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            List<Action> old = plan.rows().get(rank);
            List<Action> row = new ArrayList<>();
            for (int position = 0; position < old.size(); position++) {
                Action action = old.get(position);
                if (plan.overlaps().contains(new Place(rank, position))) {
                    overlaps.add(new Place(rank, row.size()));
                }
                boolean splits = action.kind() == Kind.FULL_BACKWARD && plan.needsMessage(action.as(Kind.SEND_B))
                        && old.subList(position, old.size()).stream().noneMatch(later -> later.kind() == Kind.FORWARD);
                row.addAll(splits
                        ? List.of(action.as(Kind.BACKWARD_INPUT), action.as(Kind.BACKWARD_WEIGHT))
                        : List.of(action));
            }
            rows.add(row);
        }
        return plan.withRows(rows, overlaps);
    }
}
