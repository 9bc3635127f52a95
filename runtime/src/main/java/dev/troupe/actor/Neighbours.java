package dev.troupe.actor;

import dev.troupe.transport.NodeMap;
import java.util.List;

/** How a node sees the nodes of its run, which it knows by their names. */
public interface Neighbours {
    /**
     * The map of nodes where ranks live on these.
     *
     * @param hosts
     *            for each rank the name of its node
     */
    NodeMap map(List<String> hosts);

    /** The index of a node in that map; -1 for a name that none has. */
    int indexOf(String name);

    /** Those of a node that is alone. */
    static Neighbours none() {
        return new Neighbours() {
            @Override
            public NodeMap map(List<String> hosts) {
                return NodeMap.single(hosts.size());
            }

            @Override
            public int indexOf(String name) {
                return -1;
            }
        };
    }
}
