package dev.troupe;

import dev.troupe.look.observe.RunObserver;
import dev.troupe.look.output.RunJournal;
import dev.troupe.look.page.RunPage;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.protocol.StepResult;
import dev.troupe.run.cluster.Leader;
import dev.troupe.run.http.Routes;
import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunNews;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The files of a run and its listener, once this process has the coordinator. */
final class RunLead implements Leader, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RunLead.class);

    private final PreparedRun run;
    private final TrainingListener listener;
    private final List<RunObserver> observers;
    private final CompletableFuture<TrainingHandle> handle;
    private @Nullable RunJournal journal;
    private @Nullable Recorder recorder;

    /**
     * @param handle completed as soon as the call that starts the run returns, or fails
     */
    RunLead(PreparedRun run, TrainingListener listener, List<RunObserver> observers,
            CompletableFuture<TrainingHandle> handle) {
        this.handle = handle;
        this.run = run;
        this.observers = observers;
        this.listener = listener;
    }

    @Override
    public synchronized RunListener lead() {
        return begin(RunJournal.begin(run, observers, LOG::warn));
    }

    @Override
    public synchronized TakenOver takeOver() {
        RunJournal opened = RunJournal.takeOver(run, observers, LOG::warn);
        return new TakenOver(begin(opened), opened.earlierSteps());
    }

    @Override
    public Routes page() {
        return new RunPage(run.request().output()).routes();
    }

    private RunListener begin(RunJournal opened) {
        journal = opened;
        recorder = new Recorder(opened, listener, run, handle);
        return recorder;
    }

    /** Returns the files of the run; empty if another process has the coordinator. */
    synchronized Optional<RunJournal> journal() {
        return Optional.ofNullable(journal);
    }

    /** Returns whether this thread is in a method of the listener. */
    synchronized boolean isListening() {
        return recorder != null && recorder.isListening();
    }

    synchronized List<Double> losses() {
        return recorder == null ? List.of() : recorder.losses();
    }

    @Override
    public synchronized void close() {
        if (journal != null) {
            journal.close();
        }
    }

    /** The listener of a run in a program: it passes news to the journal first, and then to the program's listener. */
    private static final class Recorder implements RunListener {
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
}
