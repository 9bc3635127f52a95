package dev.troupe.schedule;

import java.util.List;
import java.util.stream.IntStream;

/** The rule that assigns the microbatches of a stage to ranks. */
public sealed interface Placement permits Laps, Replicas {
    /**
     * Returns the rank that does a microbatch in a stage.
     *
     * @param stage index of the stage, from 0
     * @param microbatch index of the microbatch, from 0
     */
    int rankOf(int stage, int microbatch, int rankCount);

    /** Returns the number of ranks that hold a stage: 1, or its replicas. */
    default int replicas(int stage) {
        return 1;
    }

    /** Returns the ranks that hold a stage, ascending. */
    default List<Integer> ranksOf(int stage, int rankCount) {
        return IntStream.range(0, replicas(stage)).mapToObj(replica -> rankOf(stage, replica, rankCount)).toList();
    }

    /** Returns the stages that a rank holds, ascending. */
    default List<Integer> stagesOf(int rank, int rankCount, int stageCount) {
        return IntStream.range(0, stageCount).filter(stage -> replicas(stage) == 1
                ? rankOf(stage, 0, rankCount) == rank
                : ranksOf(stage, rankCount).contains(rank)).boxed().toList();
    }
}
