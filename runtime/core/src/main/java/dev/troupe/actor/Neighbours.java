package dev.troupe.actor;

import dev.troupe.transport.NodeMap;
import java.util.List;
import java.util.Map;

/** How a node sees the nodes of its run, which it knows by their names. */
public interface Neighbours {
    /**
     * The map of nodes where ranks live on these.
     *
     * @param hosts for each rank the name of its node
     * @param since for each node whose ranks are others than at first, the epoch since which it has those
     */
    NodeMap map(List<String> hosts, Map<String, Integer> since);

    /** The index of a node in that map; -1 for a name that none has. */
    int indexOf(String name);

    /**
     * The {@linkplain dev.troupe.snapshot.copy.SnapshotCopies#door number} of where this process takes copies in; 0 where it
     * takes none.
     */
    int door();

    /** Those of a node that is alone. */
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
