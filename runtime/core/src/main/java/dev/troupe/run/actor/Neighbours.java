package dev.troupe.run.actor;

import dev.troupe.transport.NodeMap;
import java.util.List;
import java.util.Map;

/** The nodes of a run from the view of one of them, which knows them by name. */
public interface Neighbours {
    /**
     * Returns the map of nodes that host the ranks like this.
     *
     * @param hosts for each rank the name of its node
     * @param since for each node with other ranks than at first, the epoch since which it has them
     */
    NodeMap map(List<String> hosts, Map<String, Integer> since);

    /** Returns the index of a node in that map; -1 for an unknown name. */
    int indexOf(String name);

    /**
     * Returns the {@linkplain dev.troupe.snapshot.copy.SnapshotCopies#door number} under which this process takes copies in;
     * 0 if it takes none.
     */
    int door();

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
            public int door() {
                return 0;
            }
        };
    }
}
