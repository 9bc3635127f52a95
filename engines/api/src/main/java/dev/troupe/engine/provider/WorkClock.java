package dev.troupe.engine.provider;

/**
 * The clock of an engine that computes nothing: between begin and end of a work passes its cost, whatever kernels are called
 * meanwhile. Engines that compute have {@link #NONE}.
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

    /** Returns when the time of the begun work is over. */
    void ends();
}
