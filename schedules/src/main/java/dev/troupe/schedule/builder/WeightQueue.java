package dev.troupe.schedule.builder;

import java.util.ArrayDeque;
import java.util.Queue;

/** The queue of pending W on a rank with several stages, oldest first. */
public final class WeightQueue {
    private final Row row;
    private final Queue<Integer> stages = new ArrayDeque<>();

    public WeightQueue(Row row) {
        this.row = row;
    }

    /** Adds an I to the row, and its W to the queue. */
    public void backwardInput(int stage) {
        row.backwardInput(stage);
        stages.add(stage);
    }

    /** Moves the oldest W from the queue to the row, if there is one. */
    public void backwardWeight() {
        if (!stages.isEmpty()) {
            row.backwardWeight(stages.remove());
        }
    }

    public int size() {
        return stages.size();
    }
}
