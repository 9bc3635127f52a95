package dev.troupe.schedule;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The rows of a plan as numbers, for plans too large to hold as objects: an implementation may work out an action when it
 * is asked for. {@link Plan} is one that holds them.
 */
public interface PlanRows {
    /** What the plan is called in messages. */
    String name();

    /** Number of ranks in the pipeline, P; also the number of rows. */
    int rankCount();

    /** Number of stages, P x V exactly. */
    int stageCount();

    /** Number of microbatches in the step, M. */
    int microbatchCount();

    /** The rank that holds a stage. */
    int rankOf(int stage);

    /** What leads from which stage to which. */
    default StageGraph graph() {
        return StageGraph.chain(stageCount());
    }

    /** The number of actions in a row. */
    int length(int rank);

    /**
     * One action of a row, see {@link PackedAction}.
     *
     * @param rank the row, from 0
     * @param position the index in the row, from 0 to {@link #length} - 1
     */
    long packed(int rank, int position);

    /** The plan that holds these rows as objects. */
    default Plan toPlan(Placement placement) {
        List<List<Action>> rows = new ArrayList<>();
        Set<Place> overlaps = new HashSet<>();
        for (int rank = 0; rank < rankCount(); rank++) {
            List<Action> row = new ArrayList<>(length(rank));
            for (int position = 0; position < length(rank); position++) {
                long packed = packed(rank, position);
                if (PackedAction.isPair(packed)) {
                    overlaps.add(new Place(rank, position));
                }
                row.add(PackedAction.unpack(packed));
            }
            rows.add(row);
        }
        return new Plan(name(), rankCount(), stageCount(), microbatchCount(), placement, rows, overlaps,
                graph());
    }
}
