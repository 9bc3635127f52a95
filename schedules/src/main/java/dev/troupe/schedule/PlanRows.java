package dev.troupe.schedule;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The rows of a plan as numbers, for plans too large to hold as objects. An implementation may compute an action on request;
 * a {@link Plan} holds all of them.
 */
public interface PlanRows {
    String name();

    /** Returns the number of ranks in the pipeline, P; also the number of rows. */
    int rankCount();

    /** Returns the number of stages, P x V exactly. */
    int stageCount();

    /** Returns the number of microbatches in the plan, M in each step. */
    int microbatchCount();

    default int stepCount() {
        return 1;
    }

    /** Returns the step to which an action belongs, from 0. */
    default int stepOf(Kind kind, int microbatch) {
        if (stepCount() == 1) {
            return 0;
        }
        return kind.isPerMicrobatch()
                ? microbatch / (microbatchCount() / stepCount()) // steps have the same number; the quotient is rounded down
                : microbatch;
    }

    /** Returns whether the update of a step waits for the gradients and norms of the step on every rank. */
    default boolean updateAwaitsAll(int step) {
        return true;
    }

    int rankOf(int stage, int microbatch);

    default int replicas(int stage) {
        return 1;
    }

    /**
     * Returns the number of updates that precede an action of a stage in a step, if none is late. A stage on R ranks updates
     * once in a round of R steps, each of one microbatch.
     */
    default int updatesBefore(int stage, int step) {
        return step / replicas(stage); // rounded down
    }

    /** Returns whether a stage updates its weights after a step, that is, each of its replicas has done a microbatch. */
    default boolean updatesBehind(int stage, int step) {
        return (step + 1) % replicas(stage) == 0;
    }

    default StageGraph graph() {
        return StageGraph.chain(stageCount());
    }

    int length(int rank);

    /**
     * Returns one action of a row, see {@link PackedAction}.
     *
     * @param rank the row, from 0
     * @param position the index in the row, from 0 to {@link #length} - 1
     */
    long packed(int rank, int position);

    default Action action(int rank, int position) {
        return PackedAction.unpack(packed(rank, position));
    }

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
                row.add(action(rank, position));
            }
            rows.add(row);
        }
        return new Plan(name(), rankCount(), stageCount(), microbatchCount(), stepCount(), placement, rows, overlaps,
                graph());
    }
}
