package dev.troupe.run.setup;

import dev.troupe.transport.NodeMap;
import java.util.List;
import java.util.Map;

/** The nodes of a run from the view of one of them, which knows them by name. */
public interface Neighbours {
    /**
     * Returns the map of nodes for these hosts of ranks.
     *
     * @param hosts the name of each rank's node
     * @param since the epoch of the last change of a node's ranks, by the node's name; unchanged nodes are absent
     */
    NodeMap map(List<String> hosts, Map<String, Integer> since);

    /** Returns the index of a node in that map; -1 for an unknown name. */
    int indexOf(String name);

    /**
     * Returns the {@linkplain dev.troupe.snapshot.copy.SnapshotCopies#receiverId number} of this process as a receiver of
     * copies; 0 if it receives none.
     */
    int receiverId();

    /** Returns the neighbours of a node that is alone. */
    static Neighbours none() {
        return new Neighbours() {
            @Override
            public NodeMap map(List<String> hosts, Map<String, Integer> since) {
                return NodeMap.single(hosts.size());
            }

            @Override
            public int indexOf(String name) {
                return -1;
            }

            @Override
            public int receiverId() {
                return 0;
            }
        };
    }
}
