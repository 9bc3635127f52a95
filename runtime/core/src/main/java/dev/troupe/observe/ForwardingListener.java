package dev.troupe.observe;

import dev.troupe.bits.BitKey;
import dev.troupe.bits.StepBits;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.watch.Notice;
import dev.troupe.schedule.idle.StepTimes;
import java.nio.file.Path;
import java.util.List;

/**
 * A listener that passes every call on to another. A subclass overrides the calls to which it adds something.
 *
 * <p>Thread rule: as of any listener.
 */
public abstract class ForwardingListener implements RunListener {
    /** Returns the listener that the next call is passed on to. */
    protected abstract RunListener next();

    @Override
    public void onWaiting(List<String> missing) {
        next().onWaiting(missing);
    }

    @Override
    public void onBegin(double warmUpSeconds) {
        next().onBegin(warmUpSeconds);
    }

    @Override
    public void onStarted() {
        next().onStarted();
    }

    @Override
    public void onTimes(StepTimes times) {
        next().onTimes(times);
    }

    @Override
    public void onBits(StepBits bits) {
        next().onBits(bits);
    }

    @Override
    public String wordsOf(long step, BitKey output) {
        return next().wordsOf(step, output);
    }

    @Override
    public void onStep(StepResult result, double seconds) {
        next().onStep(result, seconds);
    }

    @Override
    public void onValidated(long stepsDone, double loss) {
        next().onValidated(stepsDone, loss);
    }

    @Override
    public void onCheckpoint(long stepsDone, Path directory) {
        next().onCheckpoint(stepsDone, directory);
    }

    @Override
    public void onCheckpointFailed(long stepsDone, String why) {
        next().onCheckpointFailed(stepsDone, why);
    }

    @Override
    public void onNotice(Notice notice) {
        next().onNotice(notice);
    }

    @Override
    public List<Double> earlierStepSeconds() {
        return next().earlierStepSeconds();
    }

    @Override
    public long committedSteps() {
        return next().committedSteps();
    }

    @Override
    public void onRecoveryBegins(int epoch, long stepsDone, List<Integer> ranks, String reason) {
        next().onRecoveryBegins(epoch, stepsDone, ranks, reason);
    }

    @Override
    public void onRecovery(Recovery recovery) {
        next().onRecovery(recovery);
    }
}
