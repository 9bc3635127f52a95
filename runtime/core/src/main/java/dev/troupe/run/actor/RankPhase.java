package dev.troupe.run.actor;

import java.util.Set;

/** The phase of a rank outside its row. */
sealed interface RankPhase {
    /** These stages still load their weights. */
    record Loading(Set<Integer> stages) implements RankPhase {
    }

    /** The rank walks its row, or waits for a pass. */
    record Walking() implements RankPhase {
    }

    /** The stages write the rank's part of a checkpoint, between two passes. */
    record WritingCheckpoint() implements RankPhase {
    }
}
