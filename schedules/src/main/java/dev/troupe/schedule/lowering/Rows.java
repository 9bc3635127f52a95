package dev.troupe.schedule.lowering;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Plan;

/** What passes share that put actions behind the end of each row. */
final class Rows {
    private Rows() {
    }

    /** The plan with these actions behind the row of each rank; its pairs stay where they are. */
    static Plan append(Plan plan, IntFunction<List<Action>> ofRank) {
        List<List<Action>> rows = new ArrayList<>();
        for (int rank = 0; rank < plan.rankCount(); rank++) {
            List<Action> row = new ArrayList<>(plan.rows().get(rank));
            row.addAll(ofRank.apply(rank));
            rows.add(row);
        }
        return plan.withRows(rows, plan.overlaps());
    }
}
