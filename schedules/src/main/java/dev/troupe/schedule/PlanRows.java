package dev.troupe.schedule;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The rows of a plan as numbers, for plans too large to hold as objects: an implementation may work out an action when it
 * is asked for. A {@link Plan} holds them as objects.
 */
public interface PlanRows {
    /** Returns the name of the plan in messages. */
    String name();

    /** Returns the number of ranks in the pipeline, P; also the number of rows. */
    int rankCount();

    /** Returns the number of stages, P x V exactly. */
    int stageCount();

    /** Returns the number of microbatches in the step, M. */
    int microbatchCount();

    /** Returns the rank that holds a stage. */
    int rankOf(int stage);

    /** Returns the channels between the stages. */
    default StageGraph graph() {
        return StageGraph.chain(stageCount());
    }

    /** Returns the number of actions in a row. */
    int length(int rank);

    /**
     * Returns one action of a row, see {@link PackedAction}.
     *
     * @param rank the row, from 0
     * @param position the index in the row, from 0 to {@link #length} - 1
     */
    long packed(int rank, int position);

    /** Returns the plan that holds these rows as objects. */
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
