package dev.troupe.run;

import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunNews;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A listener that opens another one when the run begins. The other one opens the run's directory, so no file is written for
 * a refused run. Thread rule: as for any listener.
 */
public final class LateListener implements RunListener {
    private final Supplier<RunListener> opening;
    private final Consumer<List<String>> waiting;
    private RunListener opened = _ -> {
    };

    /**
     * @param opening called once, when the run begins
     * @param waiting receives the missing nodes before that
     */
    public LateListener(Supplier<RunListener> opening, Consumer<List<String>> waiting) {
        this.opening = opening;
        this.waiting = waiting;
    }

    @Override
    public void on(RunNews news) {
        if (news instanceof RunNews.Waiting(List<String> missing)) {
            waiting.accept(missing);
            return;
        }
        if (news instanceof RunNews.Begun) {
            opened = opening.get();
        }
        opened.on(news);
    }
}
