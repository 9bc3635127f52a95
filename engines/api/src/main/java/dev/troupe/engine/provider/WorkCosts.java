package dev.troupe.engine.provider;

/** How long each work of each stage is to take on an engine that keeps time instead of computing. Any thread may ask. */
@FunctionalInterface
public interface WorkCosts {
    /** The time of one work, in nanoseconds, at least 0. */
    long nanos(int stage, Work work);
}
