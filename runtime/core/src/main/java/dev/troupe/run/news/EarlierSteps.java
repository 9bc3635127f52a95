package dev.troupe.run.news;

import java.util.List;

/**
 * The steps of a run that another process reported before this one took over.
 *
 * @param seconds their recorded times, in order
 */
public record EarlierSteps(long committed, List<Double> seconds) {
    /** The value for a run that begins in this process. */
    public static final EarlierSteps NONE = new EarlierSteps(0, List.of());

    public EarlierSteps {
        seconds = List.copyOf(seconds);
    }
}
