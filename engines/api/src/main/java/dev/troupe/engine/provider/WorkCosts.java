package dev.troupe.engine.provider;

/** The costs of each work of each stage, for an engine that keeps time instead of computing. Any thread. */
@FunctionalInterface
public interface WorkCosts {
    /** The time of one work, in nanoseconds, at least 0. */
    long nanos(int stage, Work work);
}
