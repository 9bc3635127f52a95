package dev.troupe;

import dev.troupe.bits.BitKey;
import dev.troupe.bits.StepBits;
import dev.troupe.observe.Recovery;
import dev.troupe.observe.RunListener;
import dev.troupe.output.RunJournal;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.watch.Notice;
import dev.troupe.schedule.idle.StepTimes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Passes a run on to its journal, and then to the listener of the program. */
final class Recorder implements RunListener {
    private final RunJournal journal;
    private final TrainingListener listener;
    private final List<Double> losses = new ArrayList<>();

    Recorder(RunJournal journal, TrainingListener listener) {
        this.journal = journal;
        this.listener = listener;
    }

    /** Returns the loss of each step so far; any thread. */
    synchronized List<Double> losses() {
        return List.copyOf(losses);
    }

    @Override
    public void onWaiting(List<String> missing) {
        journal.onWaiting(missing);
    }

    @Override
    public void onBegin(double warmUpSeconds) {
        journal.onBegin(warmUpSeconds);
    }

    @Override
    public void onStarted() {
        journal.onStarted();
    }

    @Override
    public void onTimes(StepTimes times) {
        journal.onTimes(times);
    }

    @Override
    public void onBits(StepBits bits) {
        journal.onBits(bits);
    }

    @Override
    public String wordsOf(long step, BitKey output) {
        return journal.wordsOf(step, output);
    }

    @Override
    public void onStep(StepResult result, double seconds) {
        journal.onStep(result, seconds);
        synchronized (this) {
            losses.add(result.loss());
        }
        listener.onStep(new TrainingStep(result.step(), result.loss(), result.gradientNorm(), result.learningRate(),
                seconds, journal.tokensPerSecond(seconds), result.skipped()));
    }

    @Override
    public void onValidated(long stepsDone, double loss) {
        journal.onValidated(stepsDone, loss);
        listener.onValidation(stepsDone, loss);
    }

    @Override
    public void onCheckpoint(long stepsDone, Path directory) {
        journal.onCheckpoint(stepsDone, directory);
        tell("checkpoint", stepsDone, directory.toString());
    }

    @Override
    public void onCheckpointFailed(long stepsDone, String why) {
        journal.onCheckpointFailed(stepsDone, why);
        tell("checkpoint-failed", stepsDone, why);
    }

    @Override
    public void onRecoveryBegins(int epoch, long stepsDone, List<Integer> ranks, String reason) {
        journal.onRecoveryBegins(epoch, stepsDone, ranks, reason);
    }

    @Override
    public void onRecovery(Recovery recovery) {
        journal.onRecovery(recovery);
        tell("recovery", recovery.step(), recovery.reason());
    }

    @Override
    public void onNotice(Notice notice) {
        journal.onNotice(notice);
        tell(notice.kind().name().toLowerCase(Locale.ROOT).replace('_', '-'), notice.stepsDone(), notice.sentence());
    }

    private void tell(String kind, long stepsDone, String sentence) {
        listener.onEvent(new TrainingEvent(kind, stepsDone, sentence));
    }

    @Override
    public List<Double> earlierStepSeconds() {
        return journal.earlierStepSeconds();
    }

    @Override
    public long committedSteps() {
        return journal.committedSteps();
    }
}
