package dev.troupe.schedule.lowering;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Plan;

/** The common part of passes that add actions behind the end of each row. */
final class Rows {
    private Rows() {
    }

    /** Returns the plan with these actions behind the row of each rank; its pairs remain. */
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
