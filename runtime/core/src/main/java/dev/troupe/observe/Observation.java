package dev.troupe.observe;

import dev.troupe.schedule.idle.MeasuredStep;

/**
 * The observation of one run. An exception ends the observation, and not the run.
 *
 * <p>Thread rule: the coordinator's thread as for any listener; {@link #onMeasured} on the thread that parts idle time by
 * cause; {@link #close} once, after all other calls.
 */
public interface Observation extends RunListener, AutoCloseable {
    /**
     * A step with its idle time by cause, some time after {@link #onStep}. Where the analysis is slower than training, it
     * leaves steps out.
     */
    default void onMeasured(MeasuredStep step) {
    }

    /** This process does not lead the run any more: the run has ended. */
    @Override
    void close();
}
