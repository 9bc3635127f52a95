package dev.troupe.schedule.builder;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Schedule;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A schedule with earlier gradients in the cool-down: a B that sends its gradient to another rank, with no forward after it
 * in the row, becomes I and W.
 *
 * <pre>
 * 0F0 0F1 0B0 0B1          0F0 0F1 0B0 0B1
 *     1F0 1B0 1F1 1B1  =>      1F0 1B0 1F1 1I1 1W1
 * </pre>
 *
 * <p>In the cool-down earlier ranks wait only for that gradient. Sending it before the W shortens a step by P-1 times a W if
 * each rank has one stage. Before the cool-down a rank has other work, and B costs less than I and W.
 *
 * @param whole the schedule with unsplit backwards; it has the same name
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

    /** Splits backwards of a plan that has only computing; an I replaces its B in a pair. */
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
