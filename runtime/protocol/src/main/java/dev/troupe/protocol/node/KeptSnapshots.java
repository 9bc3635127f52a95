package dev.troupe.protocol.node;

import java.util.List;

/** The snapshots and copies on a node, as its {@link NodeMachine} asks for them. Called by the machine's thread. */
@FunctionalInterface
public interface KeptSnapshots {
    /** Returns the commits, as ascending steps done, for which this node has the states of all stages of a rank. */
    List<Long> versions(int rank);
}
