package dev.troupe.transport;

import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which ranks live on which node, and how nodes are reached.
 *
 * @param self
 *            the index of this node
 * @param nodeOfRank
 *            for each rank of the world its node
 * @param endpoints
 *            for each node where it is reached
 * @param peers
 *            the nodes that this one exchanges messages with; it has streams to and from these alone, and always to itself
 */
public record NodeMap(int self, List<Integer> nodeOfRank, List<Endpoint> endpoints, Set<Integer> peers) {
    private static final String IPC = "aeron:ipc";

    public NodeMap {
        nodeOfRank = List.copyOf(nodeOfRank);
        endpoints = List.copyOf(endpoints);
        if (self < 0 || self >= endpoints.size()) {
            throw new IllegalArgumentException(
                    "the index of this node must be 0 to " + (endpoints.size() - 1) + ", but found " + self);
        }
        if (nodeOfRank.isEmpty() || nodeOfRank.size() > Edge.MAX_INDEX + 1) {
            throw new IllegalArgumentException(
                    "a world must have 1 to " + (Edge.MAX_INDEX + 1) + " ranks, but found " + nodeOfRank.size());
        }
        for (int rank = 0; rank < nodeOfRank.size(); rank++) {
            requireNode("the node of rank " + rank, nodeOfRank.get(rank), endpoints.size());
        }
        Set<Integer> withSelf = new TreeSet<>(peers);
        withSelf.add(self);
        for (int peer : withSelf) {
            requireNode("a peer", peer, endpoints.size());
        }
        peers = Collections.unmodifiableSet(withSelf);
    }

    private static void requireNode(String what, int node, int nodeCount) {
        if (node < 0 || node >= nodeCount) {
            throw new IllegalArgumentException(
                    what + " must be 0 to " + (nodeCount - 1) + ", but found " + node);
        }
    }

    /** A world whose ranks all live in this JVM. */
    public static NodeMap single(int worldSize) {
        return new NodeMap(0, Collections.nCopies(worldSize, 0), List.of(new Endpoint("localhost", 0)), Set.of());
    }

    /** How many ranks there are. */
    public int worldSize() {
        return nodeOfRank.size();
    }

    /** How many nodes there are. */
    public int nodeCount() {
        return endpoints.size();
    }

    /** Whether a rank is one of this world. */
    public boolean contains(int rank) {
        return rank >= 0 && rank < nodeOfRank.size();
    }

    /** Whether a rank lives on this node. */
    public boolean isLocal(int rank) {
        return contains(rank) && nodeOfRank.get(rank) == self;
    }

    /** The node of a rank of this world. */
    public int nodeOf(int rank) {
        return nodeOfRank.get(rank);
    }

    /**
     * The Aeron channel on which one node sends to another: shared memory where they share a machine, and so its media
     * driver; UDP to the receiver's endpoint where they do not.
     */
    public String channel(int from, int to) {
        Endpoint receiver = endpoints.get(to);
        return endpoints.get(from).host().equals(receiver.host())
                ? IPC
                : "aeron:udp?endpoint=" + receiver.host() + ":" + receiver.port();
    }
}
