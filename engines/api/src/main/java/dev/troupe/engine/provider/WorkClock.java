package dev.troupe.engine.provider;

/**
 * The clock of an engine that computes nothing: between the begin and the end of a work passes what the work costs,
 * whatever kernels are called in between. Engines that compute have {@link #NONE}.
 *
 * <p>Thread rule: one thread, that of the rank.
 */
public interface WorkClock {
    /** The clock of engines that compute. */
    WorkClock NONE = new WorkClock() {
        @Override
        public void begins(int stage, Work work) {
        }

        @Override
        public void ends() {
        }
    };

    /** A stage begins a work. */
    void begins(int stage, Work work);

    /** The work that was begun ends: returns when its time has come. */
    void ends();
}
