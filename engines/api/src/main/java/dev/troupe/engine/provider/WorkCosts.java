package dev.troupe.engine.provider;

/** The costs of each work of each stage, for an engine that keeps time instead of computing. Any thread. */
@FunctionalInterface
public interface WorkCosts {
    /** The time of one work, in nanoseconds, at least 0. */
    long nanos(int stage, Work work);

    /**
     * The time of one work for a microbatch, which may leave out parts of the stage.
     *
     * @param microbatch its number in the step, over all data-parallel ranks
     */
    default long nanos(int stage, Work work, long step, int microbatch) {
        return nanos(stage, work);
    }
}
