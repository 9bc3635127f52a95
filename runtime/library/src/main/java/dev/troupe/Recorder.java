package dev.troupe;

import dev.troupe.look.output.RunJournal;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.protocol.StepResult;
import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunNews;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The listener of a run in a program: it passes news to the journal first, and then to the program's listener. */
final class Recorder implements RunListener {
    private final RunJournal journal;
    private final TrainingListener listener;
    private final PreparedRun run;
    private final CompletableFuture<TrainingHandle> handle;
    private final List<Double> losses = new ArrayList<>();
    /** The thread that is in a method of the listener. */
    private volatile @Nullable Thread caller;

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

    /** Returns the loss of each step so far; any thread. */
    synchronized List<Double> losses() {
        return List.copyOf(losses);
    }

    /** Returns whether this thread is in a method of the listener. */
    boolean isListening() {
        return caller == Thread.currentThread();
    }

    @Override
    public void on(RunNews news) {
        journal.on(news);
        caller = Thread.currentThread();
        try {
            pass(news);
        } finally {
            caller = null;
        }
    }

    private void pass(RunNews news) {
        switch (news) {
            case RunNews.Started started -> {
                listener.onStart(handle.join());
                run.engine().passedOver()
                        .ifPresent(why -> report("engine-passed-over", started.stepsDone(), why));
            }
            case RunNews.StepDone(StepResult result, double seconds) -> {
                synchronized (this) {
                    losses.add(result.loss());
                }
                listener.onStep(new TrainingStep(result.step(), run.spec().training().steps(), result.loss(),
                        result.gradientNorm(), result.learningRate(), seconds, journal.tokensPerSecond(seconds),
                        result.skipped()));
            }
            case RunNews.Validated(long stepsDone, double loss) -> listener.onValidation(stepsDone, loss);
            case RunNews.RecoveryBegun _ -> {
                // a program receives a recovery once, when it is complete
            }
            case RunNews.CheckpointDone done ->
                report(done.line().kind(), done.stepsDone(), done.directory().toString());
            case RunNews.Event event ->
                report(event.line().kind(), event.line().stepsDone(), event.line().sentence());
            default -> {
                // in the files alone
            }
        }
    }

    private void report(String kind, long stepsDone, String sentence) {
        listener.onEvent(new TrainingEvent(kind, stepsDone, sentence));
    }
}
