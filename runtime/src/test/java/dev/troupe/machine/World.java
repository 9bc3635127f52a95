package dev.troupe.machine;

import java.util.stream.Stream;

/**
 * The nodes of a run: over the first of them ranks are dealt out in turn.
 *
 * @param keepCopies
 *            whether each node keeps copies for the one before it
 */
record World(int withRanks, int standbys, boolean keepCopies) {
    String hostOf(int rank) {
        return name(rank % withRanks);
    }

    static String name(int node) {
        return "node-" + node;
    }

    Hosting.Keepers keepers() {
        return keepCopies
                ? (node, present, _) -> Stream
                        .concat(present.stream().filter(other -> other.compareTo(node) > 0), present.stream())
                        .filter(other -> !other.equals(node)).findFirst()
                : Hosting.Keepers.NONE;
    }
}
