package dev.troupe.protocol.run;

import dev.troupe.protocol.replica.ReplicaTable;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The nodes of a run: ranks are dealt over the first of them in turn.
 *
 * @param copies the copies that each node has of the one before it
 */
record World(int withRanks, int standbys, Copies copies) {
    /** Copies of snapshots. */
    enum Copies {
        /** None. */
        NONE,
        /** Sent byte by byte, into memory of the node that has them. */
        SENT,
        /** Lent: in the memory of the owner, for nodes on one machine. */
        SHARED
    }

    String hostOf(int rank) {
        return name(rank % withRanks);
    }

    /** Returns the first ranks of each node. */
    Map<String, List<Integer>> ranksByNode(int rankCount) {
        return IntStream.range(0, withRanks + standbys).boxed().collect(Collectors.toMap(World::name,
                node -> IntStream.range(0, rankCount).filter(rank -> hostOf(rank).equals(name(node))).boxed()
                        .toList()));
    }

    static String name(int node) {
        return "node-" + node;
    }

    ReplicaTable.Buddies buddies() {
        return copies != Copies.NONE
                ? (hosts, present) -> hosts.stream().distinct().filter(node -> present.size() > 1)
                        .collect(Collectors.toMap(node -> node, node -> buddyOf(node, present)))
                : ReplicaTable.Buddies.NONE;
    }

    private static String buddyOf(String node, Set<String> present) {
        return Stream.concat(present.stream().filter(other -> other.compareTo(node) > 0), present.stream())
                .filter(other -> !other.equals(node)).findFirst().orElseThrow();
    }
}
