package dev.troupe;

import dev.troupe.look.observe.RunObserver;
import dev.troupe.look.output.RunJournal;
import dev.troupe.look.page.RunPage;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.run.cluster.Leader;
import dev.troupe.run.http.Routes;
import dev.troupe.run.news.RunListener;
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
}
