package dev.troupe.run.news;

/** The listener of a run. The coordinator's thread calls it. An exception ends the run, with its message as the reason. */
@FunctionalInterface
public interface RunListener {
    void on(RunNews news);

    /** Returns a listener that passes all news to this one, and then to another. */
    default RunListener then(RunListener next) {
        return news -> {
            on(news);
            next.on(news);
        };
    }
}
