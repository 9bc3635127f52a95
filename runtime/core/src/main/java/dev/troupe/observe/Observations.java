package dev.troupe.observe;

import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.watch.Notice;
import dev.troupe.schedule.idle.MeasuredStep;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/**
 * The observations of a run. One that throws is told nothing more.
 *
 * <p>Thread rule: as of an {@link Observation}.
 */
public final class Observations implements Observation {
    private final List<Observation> observations = new CopyOnWriteArrayList<>();
    private final Consumer<String> trouble;

    /**
     * Begins the observations.
     *
     * @param trouble receives a sentence where an observer throws; the run continues without it
     */
    public Observations(List<RunObserver> observers, RunFacts run, Consumer<String> trouble) {
        this.trouble = trouble;
        for (RunObserver observer : observers) {
            try {
                observations.add(observer.observe(run));
            } catch (Throwable refused) { // errors too: no observer ends a run
                tell(refused);
            }
        }
    }

    private void each(Consumer<Observation> call) {
        for (Observation observation : observations) {
            try {
                call.accept(observation);
            } catch (Throwable failure) {
                observations.remove(observation);
                tell(failure);
            }
        }
    }

    private void tell(Throwable failure) {
        trouble.accept("an observer of the run has failed, and the run continues without it: " + failure);
    }

    @Override
    public void onWaiting(List<String> missing) {
        each(one -> one.onWaiting(missing));
    }

    @Override
    public void onBegin(double warmUpSeconds) {
        each(one -> one.onBegin(warmUpSeconds));
    }

    @Override
    public void onStarted() {
        each(Observation::onStarted);
    }

    @Override
    public void onStep(StepResult result, double seconds) {
        each(one -> one.onStep(result, seconds));
    }

    @Override
    public void onMeasured(MeasuredStep step) {
        each(one -> one.onMeasured(step));
    }

    @Override
    public void onValidated(long stepsDone, double loss) {
        each(one -> one.onValidated(stepsDone, loss));
    }

    @Override
    public void onCheckpoint(long stepsDone, Path directory) {
        each(one -> one.onCheckpoint(stepsDone, directory));
    }

    @Override
    public void onCheckpointFailed(long stepsDone, String why) {
        each(one -> one.onCheckpointFailed(stepsDone, why));
    }

    @Override
    public void onNotice(Notice notice) {
        each(one -> one.onNotice(notice));
    }

    @Override
    public void onRecoveryBegins(int epoch, long stepsDone, List<Integer> ranks, String reason) {
        each(one -> one.onRecoveryBegins(epoch, stepsDone, ranks, reason));
    }

    @Override
    public void onRecovery(Recovery recovery) {
        each(one -> one.onRecovery(recovery));
    }

    @Override
    public void close() {
        each(Observation::close);
    }
}
