package dev.troupe.shard;

import java.util.List;

/**
 * The versions of a stage's weights: the newest, which updates change in place, and older versions, which rotate through the
 * other buffers. So an update copies the weights once, for any number of versions.
 */
final class HeldVersions {
    private final WeightVersion newest;
    private final List<WeightVersion> older;
    // The index of the version before the last update.
    private int last;

    HeldVersions(WeightVersion newest, List<WeightVersion> older) {
        this.newest = newest;
        this.older = List.copyOf(older);
    }

    WeightVersion newest() {
        return newest;
    }

    int olderCount() {
        return older.size();
    }

    /** Returns the version that is this number of updates old: 0 for the newest. */
    WeightVersion before(int updates) {
        if (updates > older.size()) {
            throw new IllegalStateException("the stage holds the weights before its last " + older.size()
                    + " updates, but was asked for those before " + updates);
        }
        return updates == 0 ? newest : older.get(Math.floorMod(last - updates + 1, older.size()));
    }

    /** Returns the state of the rotation: as long as it is the same, each older version is in the same buffer. */
    int turn() {
        return last;
    }

    /** Copies the newest version over the oldest one, before an update. */
    void beginUpdate() {
        if (!older.isEmpty()) {
            last = (last + 1) % older.size();
            older.get(last).copyOf(newest);
        }
    }

    /** Sets all older versions equal to the newest one, which is complete. */
    void begin() {
        newest.changed();
        older.forEach(version -> version.copyOf(newest));
    }

    /** Rounds all versions for the products after a change, in one kernel call each. */
    void changed() {
        newest.changed();
        older.forEach(WeightVersion::changed);
    }

    long bytes() {
        return newest.bytes() + older.stream().mapToLong(WeightVersion::bytes).sum();
    }
}
