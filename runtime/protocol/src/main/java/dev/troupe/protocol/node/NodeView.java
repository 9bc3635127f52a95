package dev.troupe.protocol.node;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.NodeReport;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A node's knowledge of its run: the epoch, the nodes of all ranks, the last commits. */
final class NodeView {
    /** The number of commits to which the run may go back. */
    private static final int COMMITS_KNOWN = 3;

    private final String name;
    /** By steps done; after the run went back, a repeated commit replaces the earlier one. */
    private final TreeMap<Long, Commit> commits = new TreeMap<>();
    private int epoch;
    private List<String> hosts = List.of();
    private Map<String, Integer> since = Map.of();
    private Optional<NodeEvent.KeepCopies> copies = Optional.empty();

    NodeView(String name) {
        this.name = name;
    }

    int epoch() {
        return epoch;
    }

    /** Takes the state of the run at the node's first order, which may come late. */
    void begin(NodeEvent.HostRanks host) {
        epoch = host.epoch();
        hosts = host.hosts();
        since = host.since();
    }

    /** Enters an epoch; returns the nodes that had ranks and have lost them. */
    List<String> enter(NodeEvent.EnterEpoch enter) {
        List<String> lost = ranks().filter(rank -> !hosts.get(rank).equals(enter.hosts().get(rank)))
                .mapToObj(hosts::get).distinct().toList();
        epoch = enter.epoch();
        hosts = enter.hosts();
        since = enter.since();
        return lost;
    }

    void note(Commit commit) {
        commits.put(commit.stepsDone(), commit);
        if (commits.size() > COMMITS_KNOWN) {
            commits.pollFirstEntry();
        }
    }

    void note(NodeEvent.KeepCopies keep) {
        copies = Optional.of(keep);
    }

    List<Integer> ranksHere() {
        return ranksOn(hosts);
    }

    /** Returns the ranks with copies on this node, by the last order. */
    List<Integer> copiedHere() {
        return ranksOn(copies.map(NodeEvent.KeepCopies::buddies).orElse(List.of()));
    }

    private List<Integer> ranksOn(List<String> nodes) {
        return IntStream.range(0, nodes.size()).filter(rank -> nodes.get(rank).equals(name)).boxed().toList();
    }

    /** Returns the buddies of all ranks, by the last order, without a buddy that has become the rank's host. */
    Map<Integer, NodeCommand.Route.Buddy> buddies() {
        Map<Integer, NodeCommand.Route.Buddy> byRank = new TreeMap<>();
        copies.ifPresent(keep -> {
            for (int rank = 0; rank < keep.buddies().size(); rank++) {
                String buddy = keep.buddies().get(rank);
                if (keep.receiverIds().containsKey(buddy) && !buddy.equals(name)) {
                    byRank.put(rank, new NodeCommand.Route.Buddy(buddy, keep.receiverIds().get(buddy)));
                }
            }
        });
        return byRank;
    }

    /**
     * Returns the ranks with old snapshots that are useless here, since other nodes host the ranks and keep their copies.
     */
    List<Integer> unwanted() {
        return copies.isEmpty()
                ? List.of()
                : ranks().filter(rank -> !hosts.get(rank).equals(name) && !copiedHere().contains(rank)).boxed()
                        .toList();
    }

    /**
     * Returns the report for a coordinator that takes over. It has snapshots of commits that this node does not know too,
     * since a node that joined late has received few commits.
     */
    NodeReport report(KeptSnapshots kept) {
        return new NodeReport(epoch, hosts, since, List.copyOf(commits.values()),
                ranks().boxed().collect(Collectors.toMap(rank -> rank, kept::versions)));
    }

    private IntStream ranks() {
        return IntStream.range(0, hosts.size());
    }
}
