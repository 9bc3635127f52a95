package dev.troupe.rank;

import dev.troupe.engine.Tensor;
import dev.troupe.stage.Stage;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The stages of one rank, by index. A boundary tensor returns to the stage that made it. Thread rule: any thread; {@link
 * #adopt} on the rank's.
 */
final class Boundaries {
    private final Map<Integer, Stage> stages = new ConcurrentHashMap<>();

    /** Adds a stage, before it makes a tensor. */
    void add(Stage stage) {
        stages.put(stage.index(), stage);
    }

    void adopt(Stage by, int from, Tensor boundary) {
        by.boundary().adopt(boundary, stages.get(from).boundary());
    }

    void release(int stage, Tensor boundary) {
        stages.get(stage).boundary().release(boundary);
    }
}
