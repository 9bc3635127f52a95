package dev.troupe.engine.provider;

/**
 * The clock of an engine that computes nothing: each work takes its cost, whatever kernels are called in it. Engines that
 * compute have {@link #NONE}.
 *
 * <p>Thread rule: the rank's thread.
 */
public interface WorkClock {
    WorkClock NONE = new WorkClock() {
        @Override
        public void begins(int stage, Work work) {
        }

        @Override
        public void ends() {
        }
    };

    void begins(int stage, Work work);

    /**
     * Begins a work of one microbatch, which may leave out parts of the stage.
     *
     * @param microbatch its number in the step, over all data-parallel ranks
     */
    default void begins(int stage, Work work, long step, int microbatch) {
        begins(stage, work);
    }

    /** Waits until the time of the begun work is over. */
    void ends();
}
