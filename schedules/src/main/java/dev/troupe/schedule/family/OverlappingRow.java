package dev.troupe.schedule.family;

import java.util.ArrayList;
import java.util.List;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Kind;

/**
 * The row of one stage whose steps overlap.
 *
 * <p>The phases of a row:
 * <ol>
 * <li>warm-up: forwards;
 * <li>steady: one forward, one backward, through all steps;
 * <li>the backwards that are left when there is no other step.
 * </ol>
 */
final class OverlappingRow {
    private final int stage;
    private final int microbatches;
    private final int steps;
    private final int firstVersion;
    private final int staleness;
    private final boolean isLazy;
    private final List<Action> row = new ArrayList<>();
    private int forwards;
    private int backwards;
    private int updated;

    /**
     * @param stage the stage
     * @param microbatches microbatches of each step
     * @param steps number of steps
     * @param firstVersion the newest version of the weights at the begin
     * @param staleness the updates between the weights that a step reads and those that it updates
     * @param isLazy whether an update is in front of the first forward that reads it, or else behind the last backward of
     *        its step
     */
    OverlappingRow(int stage, int microbatches, int steps, int firstVersion, int staleness, boolean isLazy) {
        this.stage = stage;
        this.microbatches = microbatches;
        this.steps = steps;
        this.firstVersion = firstVersion;
        this.staleness = staleness;
        this.isLazy = isLazy;
    }

    /** Returns the row with this number of forwards in its warm-up. */
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
        // 3. The backwards that are left, and the updates that no forward has asked for.
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
        row.add(new Action(stage, Kind.FORWARD, forwards++, version));
    }

    private void backward() {
        row.add(new Action(stage, Kind.FULL_BACKWARD, backwards, version(backwards)));
        backwards++;
        if (!isLazy && backwards % microbatches == 0) {
            update();
        }
    }

    private void update() {
        row.add(new Action(stage, Kind.UPDATE, updated++));
    }

    /** Returns the version that a microbatch reads; the first steps of a run read its first version. */
    private int version(int microbatch) {
        return Math.max(0, firstVersion + microbatch / microbatches - staleness); // rounded down
    }
}
