package dev.troupe.look.observe;

import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunNews;

/**
 * The observation of one run. An exception ends the observation, and not the run. Thread rule: the coordinator's thread as
 * for any listener, but {@link RunNews.Measured} on the thread that splits idle time by cause; {@link #close} once, after
 * all news.
 */
public interface Observation extends RunListener, AutoCloseable {
    /** Ends the observation: the run has ended, or this process does not lead it any more. */
    @Override
    void close();
}
