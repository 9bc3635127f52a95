package dev.troupe.run.actor;

import java.util.Set;

/** The phase of a rank outside its row. */
sealed interface RankPhase {
    /** Its stages load their weights; these still do. */
    record Loading(Set<Integer> stages) implements RankPhase {
    }

    /** It walks its row, or waits for a pass. */
    record Walking() implements RankPhase {
    }

    /** Its stages write its part of a checkpoint, between two passes. */
    record WritingCheckpoint() implements RankPhase {
    }
}
