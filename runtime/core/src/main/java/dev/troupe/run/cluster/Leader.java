package dev.troupe.run.cluster;

import dev.troupe.run.http.Routes;
import dev.troupe.run.news.EarlierSteps;
import dev.troupe.run.news.RunListener;
import java.util.List;

/** The tasks of the node that has the coordinator. */
public interface Leader {
    /**
     * A run that continues after the node of its coordinator was lost.
     *
     * @param listener the listener of the run from here on
     * @param earlier the steps that were reported before
     */
    record TakenOver(RunListener listener, EarlierSteps earlier) {
    }

    /** Opens the run's directory, and returns the listener of the run. */
    RunListener lead();

    /** Reports that the run waits for these nodes before it begins. */
    default void waitFor(List<String> missing) {
    }

    /** As {@link #lead}, for a run with an earlier coordinator on another node: its files remain. */
    TakenOver takeOver();

    /**
     * Leaves the run, since this process cannot use its device again, for the reason in a sentence. A process of its own
     * should end at once, so that its successor gets a working device.
     */
    default void loseDevice(String why) {
    }

    /** Returns the routes of the run's page, for the management port of this process. */
    Routes page();
}
