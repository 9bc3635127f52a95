package dev.troupe.schedule.lowering;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The pass that gathers weights if each rank holds a share (ZeRO 3), from the first action of a stage that reads them to the
 * last. In between the stage decides which layers are gathered at a time.
 *
 * <pre>
 *   0F0 0SEND_F0 0RECV_B0 0B0   =>   0UNSHARD 0F0 0SEND_F0 0RECV_B0 0B0 0RESHARD
 * </pre>
 *
 * <p>An {@code UNSHARD} is right before the action that reads the weights, so that no other exchange of the group comes
 * between.
 */
public record AddUnshard() implements LoweringPass {
    @Override
    public Plan apply(Plan plan) {
        Set<Place> overlaps = new HashSet<>();
        List<List<Action>> rows = new ArrayList<>();
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            rows.add(row(plan, rank, overlaps));
        }
        return plan.withRows(rows, overlaps);
    }

    private static List<Action> row(Plan plan, int rank, Set<Place> overlaps) {
        List<Action> old = plan.rows().get(rank);
        Map<Integer, Integer> last = new HashMap<>();
        for (int position = 0; position < old.size(); position++) {
            if (old.get(position).kind().isCompute()) {
                last.put(old.get(position).stage(), position);
            }
        }
        List<Action> row = new ArrayList<>();
        List<Action> ended = new ArrayList<>();
        Set<Integer> gathered = new HashSet<>();
        for (int position = 0; position < old.size(); position++) {
            Action action = old.get(position);
            boolean isPair = plan.overlaps().contains(new Place(rank, position));
            if (action.kind().isCompute() && gathered.add(action.stage())) {
                row.add(new Action(action.stage(), Kind.UNSHARD));
            }
            if (isPair) {
                overlaps.add(new Place(rank, row.size()));
            }
            row.add(action);
            if (action.kind().isCompute() && last.get(action.stage()) == position) {
                ended.add(new Action(action.stage(), Kind.RESHARD));
            }
            if (!isPair) {
                row.addAll(ended);
                ended.clear();
            }
        }
        return row;
    }
}
