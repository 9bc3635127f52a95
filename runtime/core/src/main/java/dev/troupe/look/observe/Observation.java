package dev.troupe.look.observe;

import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunNews;

/**
 * The observation of one run. An exception ends the observation, and not the run.
 *
 * <p>Thread rule: the coordinator's thread as for any listener, but {@link RunNews.Measured} on the thread that splits idle
 * time by cause; {@link #close} once, after all news.
 */
public interface Observation extends RunListener, AutoCloseable {
    /** This process does not lead the run any more: the run has ended. */
    @Override
    void close();
}
