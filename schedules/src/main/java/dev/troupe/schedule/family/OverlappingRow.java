package dev.troupe.schedule.family;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;
import java.util.ArrayList;
import java.util.List;

/**
 * A builder of the row of one stage, or of one of its replicas, if steps overlap.
 *
 * <p>The phases of a row:
 * <ol>
 * <li>warm-up: forwards;
 * <li>steady: one forward, one backward, through all steps;
 * <li>cool-down: the remaining backwards.
 * </ol>
 */
final class OverlappingRow {
    private final int stage;
    private final int microbatches;
    private final int steps;
    private final int firstVersion;
    private final int staleness;
    private final boolean isLazy;
    private final int replica;
    private final int replicas;
    private final List<Action> row = new ArrayList<>();
    private int forwards;
    private int backwards;
    private int updated;

    /**
     * @param firstVersion the newest version of the weights at the beginning
     * @param staleness the number of updates between the weights that a step reads and the weights that it updates
     * @param isLazy true: an update comes before the first forward that reads it; false: after the last backward of its step
     */
    OverlappingRow(int stage, int microbatches, int steps, int firstVersion, int staleness, boolean isLazy) {
        this(stage, microbatches, steps, firstVersion, staleness, isLazy, 0, 1);
    }

    /**
     * Makes the row of a replica. It counts its own microbatches and steps; each step is a round of one microbatch for each
     * replica.
     *
     * @param replica the number of the replica in its stage, from 0
     */
    OverlappingRow(int stage, int microbatches, int steps, int firstVersion, int staleness, boolean isLazy, int replica,
            int replicas) {
        this.stage = stage;
        this.microbatches = microbatches;
        this.steps = steps;
        this.firstVersion = firstVersion;
        this.staleness = staleness;
        this.isLazy = isLazy;
        this.replica = replica;
        this.replicas = replicas;
    }

    List<Action> withWarmUp(int warmUp) {
        int all = microbatches * steps;
        // 1. Warm-up.
        while (forwards < Math.min(warmUp, all)) {
            forward();
        }
        // 2. Steady: one forward, one backward.
        while (forwards < all) {
            forward();
            backward();
        }
        // 3. The remaining backwards and updates.
        while (backwards < all) {
            backward();
        }
        while (updated < steps) {
            update();
        }
        return row;
    }

    private void forward() {
        int version = version(forwards);
        while (firstVersion + updated < version) {
            update();
        }
        row.add(new Action(stage, Kind.FORWARD, inPlan(forwards++), version));
    }

    private void backward() {
        row.add(new Action(stage, Kind.FULL_BACKWARD, inPlan(backwards), version(backwards)));
        backwards++;
        if (!isLazy && backwards % microbatches == 0) {
            update();
        }
    }

    private void update() {
        row.add(new Action(stage, Kind.UPDATE, ++updated * replicas - 1)); // after the last step of the round
    }

    private int inPlan(int microbatch) {
        return microbatch * replicas + replica;
    }

    /** Returns the version that a microbatch reads; the first steps of a run read its first version. */
    private int version(int microbatch) {
        return Math.max(0, firstVersion + microbatch / microbatches - staleness); // rounded down
    }
}
