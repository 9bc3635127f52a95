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

    /** Waits until the time of the begun work is over. */
    void ends();
}
