package dev.troupe.schedule.builder;

import java.util.ArrayDeque;
import java.util.Queue;

/** The W that a rank of several stages still owes, the oldest first. */
public final class WeightQueue {
    private final Row row;
    private final Queue<Integer> stages = new ArrayDeque<>();

    public WeightQueue(Row row) {
        this.row = row;
    }

    /** Adds an I to the row, and owes its W. */
    public void backwardInput(int stage) {
        row.backwardInput(stage);
        stages.add(stage);
    }

    /** Adds the W that has been owed longest; nothing if none is. */
    public void backwardWeight() {
        if (!stages.isEmpty()) {
            row.backwardWeight(stages.remove());
        }
    }

    public int size() {
        return stages.size();
    }
}
