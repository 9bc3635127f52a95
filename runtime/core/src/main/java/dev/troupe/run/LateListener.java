package dev.troupe.run;

import dev.troupe.bits.BitKey;
import dev.troupe.bits.StepBits;
import dev.troupe.protocol.watch.Notice;
import dev.troupe.observe.Recovery;
import dev.troupe.protocol.StepResult;
import dev.troupe.observe.RunListener;
import dev.troupe.schedule.idle.StepTimes;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A listener that is created when the run begins: the supplier, which opens the run's directory, is not called before,
 * so that no file is written for a refused run.
 *
 * <p>Thread rule: as of any listener.
 */
public final class LateListener implements RunListener {
    private final Supplier<RunListener> opening;
    private final Consumer<List<String>> waiting;
    private RunListener listener;

    /**
     * @param opening
     *            called once, when the run begins
     * @param waiting
     *            receives the nodes for which the run waits before
     */
    public LateListener(Supplier<RunListener> opening, Consumer<List<String>> waiting) {
        this.opening = opening;
        this.waiting = waiting;
    }

    @Override
    public void onWaiting(List<String> missing) {
        waiting.accept(missing);
    }

    @Override
    public void onBegin(double warmUpSeconds) {
        listener = opening.get();
        listener.onBegin(warmUpSeconds);
    }

    @Override
    public void onStarted() {
        listener.onStarted();
    }

    @Override
    public void onTimes(StepTimes times) {
        listener.onTimes(times);
    }

    @Override
    public void onBits(StepBits bits) {
        listener.onBits(bits);
    }

    @Override
    public String wordsOf(long step, BitKey output) {
        return listener.wordsOf(step, output);
    }

    @Override
    public void onStep(StepResult result, double seconds) {
        listener.onStep(result, seconds);
    }

    @Override
    public void onValidated(long stepsDone, double loss) {
        listener.onValidated(stepsDone, loss);
    }

    @Override
    public void onCheckpoint(long stepsDone, Path directory) {
        listener.onCheckpoint(stepsDone, directory);
    }

    @Override
    public void onCheckpointFailed(long stepsDone, String why) {
        listener.onCheckpointFailed(stepsDone, why);
    }

    @Override
    public void onRecoveryBegins(int epoch, long stepsDone, List<Integer> ranks, String reason) {
        listener.onRecoveryBegins(epoch, stepsDone, ranks, reason);
    }

    @Override
    public void onRecovery(Recovery recovery) {
        listener.onRecovery(recovery);
    }

    /** Ignores notices before the run has begun. */
    @Override
    public void onNotice(Notice notice) {
        if (listener != null) {
            listener.onNotice(notice);
        }
    }

    @Override
    public List<Double> earlierStepSeconds() {
        return listener == null ? List.of() : listener.earlierStepSeconds();
    }

    @Override
    public long committedSteps() {
        return listener == null ? 0 : listener.committedSteps();
    }
}
