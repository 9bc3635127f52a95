package dev.troupe.shard;

import java.util.List;

/**
 * The versions of a stage's weights: the newest, which updates change in place, and those before the last updates, which
 * take turns in the other buffers. So an update copies the weights once, however many versions there are.
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

    /** Returns the version before this number of updates: 0 for the newest. */
    WeightVersion before(int updates) {
        if (updates > older.size()) {
            throw new IllegalStateException("the stage holds the weights before its last " + older.size()
                    + " updates, but was asked for those before " + updates);
        }
        return updates == 0 ? newest : older.get(Math.floorMod(last - updates + 1, older.size()));
    }

    /** Returns the turn of the older versions: while it is the same, each is in the same buffer. */
    int turn() {
        return last;
    }

    /** Keeps a copy of the newest version, which an update follows, in place of the oldest. */
    void beginUpdate() {
        if (!older.isEmpty()) {
            last = (last + 1) % older.size();
            older.get(last).copyOf(newest);
        }
    }

    /** Takes note that the newest version is complete: the older ones become the same. */
    void begin() {
        newest.changed();
        older.forEach(version -> version.copyOf(newest));
    }

    /** Rounds all versions, which have changed, for the products, in one kernel call each. */
    void changed() {
        newest.changed();
        older.forEach(WeightVersion::changed);
    }

    long bytes() {
        return newest.bytes() + older.stream().mapToLong(WeightVersion::bytes).sum();
    }
}
