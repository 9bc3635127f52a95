package dev.troupe.transport;

import java.util.Collections;
import java.util.List;

/**
 * Which ranks live on which node, and how nodes are reached.
 *
 * @param self
 *            the index of this node
 * @param nodeOfRank
 *            for each rank of the world its node
 * @param channels
 *            for each node the Aeron channel on which it receives from other nodes, such as
 *            {@code aeron:udp?endpoint=host:port}; a node sends to itself over {@code aeron:ipc} whatever stands here
 */
public record NodeMap(int self, List<Integer> nodeOfRank, List<String> channels) {
    public NodeMap {
        nodeOfRank = List.copyOf(nodeOfRank);
        channels = List.copyOf(channels);
        if (self < 0 || self >= channels.size()) {
            throw new IllegalArgumentException(
                    "the index of this node must be 0 to " + (channels.size() - 1) + ", but found " + self);
        }
        if (nodeOfRank.isEmpty() || nodeOfRank.size() > Edge.MAX_INDEX + 1) {
            throw new IllegalArgumentException(
                    "a world must have 1 to " + (Edge.MAX_INDEX + 1) + " ranks, but found " + nodeOfRank.size());
        }
        for (int rank = 0; rank < nodeOfRank.size(); rank++) {
            int node = nodeOfRank.get(rank);
            if (node < 0 || node >= channels.size()) {
                throw new IllegalArgumentException("the node of rank " + rank + " must be 0 to "
                        + (channels.size() - 1) + ", but found " + node);
            }
        }
    }

    /** A world whose ranks all live in this JVM. */
    public static NodeMap single(int worldSize) {
        return new NodeMap(0, Collections.nCopies(worldSize, 0), List.of("aeron:ipc"));
    }

    /** How many ranks there are. */
    public int worldSize() {
        return nodeOfRank.size();
    }

    /** How many nodes there are. */
    public int nodeCount() {
        return channels.size();
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
}
