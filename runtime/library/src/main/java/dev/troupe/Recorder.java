package dev.troupe;

import dev.troupe.observe.ForwardingListener;
import dev.troupe.observe.Recovery;
import dev.troupe.observe.RunListener;
import dev.troupe.output.RunJournal;
import dev.troupe.prepare.PreparedRun;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.watch.Notice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;

/** Passes a run on to its journal, and then to the listener of the program. */
final class Recorder extends ForwardingListener {
    private final RunJournal journal;
    private final TrainingListener listener;
    private final PreparedRun run;
    private final CompletableFuture<TrainingHandle> handle;
    private final List<Double> losses = new ArrayList<>();

    /**
     * @param handle completed as soon as the call that starts the run returns, or fails
     */
    Recorder(RunJournal journal, TrainingListener listener, PreparedRun run,
            CompletableFuture<TrainingHandle> handle) {
        this.journal = journal;
        this.listener = listener;
        this.run = run;
        this.handle = handle;
    }

    @Override
    protected RunListener next() {
        return journal;
    }

    /** Returns the loss of each step so far; any thread. */
    synchronized List<Double> losses() {
        return List.copyOf(losses);
    }

    @Override
    public void onStarted() {
        super.onStarted();
        listener.onStart(handle.join());
        run.engine().passedOver().ifPresent(why -> tell("engine-passed-over", run.stepsDone(), why));
    }

    @Override
    public void onStep(StepResult result, double seconds) {
        super.onStep(result, seconds);
        synchronized (this) {
            losses.add(result.loss());
        }
        listener.onStep(new TrainingStep(result.step(), run.spec().training().steps(), result.loss(),
                result.gradientNorm(), result.learningRate(), seconds, journal.tokensPerSecond(seconds),
                result.skipped()));
    }

    @Override
    public void onValidated(long stepsDone, double loss) {
        super.onValidated(stepsDone, loss);
        listener.onValidation(stepsDone, loss);
    }

    @Override
    public void onCheckpoint(long stepsDone, Path directory) {
        super.onCheckpoint(stepsDone, directory);
        tell("checkpoint", stepsDone, directory.toString());
    }

    @Override
    public void onCheckpointFailed(long stepsDone, String why) {
        super.onCheckpointFailed(stepsDone, why);
        tell("checkpoint-failed", stepsDone, why);
    }

    @Override
    public void onRecovery(Recovery recovery) {
        super.onRecovery(recovery);
        tell("recovery", recovery.step(), recovery.reason());
    }

    @Override
    public void onNotice(Notice notice) {
        super.onNotice(notice);
        tell(notice.kind().name().toLowerCase(Locale.ROOT).replace('_', '-'), notice.stepsDone(), notice.sentence());
    }

    private void tell(String kind, long stepsDone, String sentence) {
        listener.onEvent(new TrainingEvent(kind, stepsDone, sentence));
    }
}
