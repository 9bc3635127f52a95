package dev.troupe.transport;

import dev.troupe.protocol.Edge;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * The node of each rank, and the address of each node.
 *
 * @param nodeOfRank for each rank of the world its node
 * @param endpoints for each node its address
 * @param peers the nodes with which this node exchanges messages, always including itself; it has streams to and from these
 *     only
 * @param since for each node the epoch in which it got its current ranks, the same on all nodes. A new epoch gives the node
 *     new streams, so that nothing reads the open streams of a dead process or of earlier ranks
 */
public record NodeMap(int self, List<Integer> nodeOfRank, List<Endpoint> endpoints, Set<Integer> peers,
        List<Integer> since) {
    private static final String IPC = "aeron:ipc";

    public NodeMap {
        nodeOfRank = List.copyOf(nodeOfRank);
        endpoints = List.copyOf(endpoints);
        since = List.copyOf(since);
        if (since.size() != endpoints.size()) {
            throw new IllegalArgumentException("a map of " + endpoints.size()
                    + " nodes must say of each since when it has its ranks, but found " + since.size() + " epochs");
        }
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

    /** Creates a map of nodes that keep their first ranks. */
    public NodeMap(int self, List<Integer> nodeOfRank, List<Endpoint> endpoints, Set<Integer> peers) {
        this(self, nodeOfRank, endpoints, peers, Collections.nCopies(endpoints.size(), 0));
    }

    private static void requireNode(String what, int node, int nodeCount) {
        if (node < 0 || node >= nodeCount) {
            throw new IllegalArgumentException(
                    what + " must be 0 to " + (nodeCount - 1) + ", but found " + node);
        }
    }

    public static NodeMap single(int worldSize) {
        return new NodeMap(0, Collections.nCopies(worldSize, 0), List.of(new Endpoint("localhost", 0)), Set.of());
    }

    /**
     * Returns this map with ranks on other nodes from an epoch on, which becomes the epoch of each changed node. Every
     * process must receive the same sequence of maps. A process that replaces an ended one begins with a map in which its
     * node has no rank.
     *
     * @param epoch the epoch in which ranks move, later than all of {@link #since}
     * @param movedTo for each rank of the world its node
     * @param peersThen the nodes with which this node then exchanges messages
     */
    public NodeMap moved(int epoch, List<Integer> movedTo, Set<Integer> peersThen) {
        if (movedTo.size() != worldSize() || epoch <= Collections.max(since)) {
            throw new IllegalArgumentException("the " + worldSize() + " ranks of a world can move in an epoch after "
                    + Collections.max(since) + ", but found " + movedTo.size() + " in epoch " + epoch);
        }
        List<Integer> sinceThen = new ArrayList<>(since);
        for (int rank = 0; rank < worldSize(); rank++) {
            if (!Objects.equals(nodeOfRank.get(rank), movedTo.get(rank))) {
                sinceThen.set(nodeOfRank.get(rank), epoch);
                requireNode("the node of rank " + rank, movedTo.get(rank), nodeCount());
                sinceThen.set(movedTo.get(rank), epoch);
            }
        }
        return new NodeMap(self, movedTo, endpoints, peersThen, sinceThen);
    }

    /** Returns the epoch since which two nodes have their current streams; 0 for the stream of a node to itself. */
    public int streamsSince(int one, int other) {
        return one == other ? 0 : Math.max(since.get(one), since.get(other));
    }

    public int worldSize() {
        return nodeOfRank.size();
    }

    public int nodeCount() {
        return endpoints.size();
    }

    public boolean contains(int rank) {
        return rank >= 0 && rank < nodeOfRank.size();
    }

    public boolean isLocal(int rank) {
        return contains(rank) && nodeOfRank.get(rank) == self;
    }

    public int nodeOf(int rank) {
        return nodeOfRank.get(rank);
    }

    /**
     * Returns the Aeron channel from one node to another: shared memory if they share a machine, otherwise UDP to the
     * receiver's endpoint.
     */
    public String channel(int from, int to) {
        Endpoint receiver = endpoints.get(to);
        return shareMachine(from, to) ? IPC : "aeron:udp?endpoint=" + receiver;
    }

    /** Returns whether two nodes are on one machine, so that they share a media driver. */
    public boolean shareMachine(int one, int other) {
        return endpoints.get(one).host().equals(endpoints.get(other).host());
    }
}
