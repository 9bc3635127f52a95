package dev.troupe.look.observe;

import dev.troupe.plan.prepare.RunFacts;
import dev.troupe.run.news.RunNews;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** The observations of a run. One that throws receives no further news. Thread rule: as for an {@link Observation}. */
public final class Observations implements Observation {
    private final List<Observation> observations = new CopyOnWriteArrayList<>();
    private final Consumer<String> trouble;

    /** @param trouble receives a sentence if an observer throws; the run continues without it */
    public Observations(List<RunObserver> observers, RunFacts run, Consumer<String> trouble) {
        this.trouble = trouble;
        for (RunObserver observer : observers) {
            try {
                observations.add(observer.observe(run));
            } catch (Throwable refused) { // errors too: no observer ends a run
                report(refused);
            }
        }
    }

    private void each(Consumer<Observation> call) {
        for (Observation observation : observations) {
            try {
                call.accept(observation);
            } catch (Throwable failure) {
                observations.remove(observation);
                report(failure);
            }
        }
    }

    private void report(Throwable failure) {
        trouble.accept("an observer of the run has failed, and the run continues without it: " + failure);
    }

    @Override
    public void on(RunNews news) {
        each(observation -> observation.on(news));
    }

    @Override
    public void close() {
        each(Observation::close);
    }
}
