package dev.troupe.protocol.supervisor;

/** A process of a node in a simulation. */
final class SimulatedChild {
    final String node;
    final long startNanos;
    boolean isAlive = true;
    long endNanos;
    long stepsAtEnd;
    boolean isMember;
    long stepsKnown;
    boolean hasToldRun;

    SimulatedChild(String node, long startNanos) {
        this.node = node;
        this.startNanos = startNanos;
    }
}
