package dev.troupe.run;

import dev.troupe.observe.ForwardingListener;
import dev.troupe.observe.RunListener;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A listener that is created when the run begins: the supplier, which opens the run's directory, is not called before,
 * so that no file is written for a refused run.
 *
 * <p>Thread rule: as of any listener.
 */
public final class LateListener extends ForwardingListener {
    private final Supplier<RunListener> opening;
    private final Consumer<List<String>> waiting;
    /** Before the run begins, one that hears nothing. */
    private RunListener listener = new RunListener() {
    };

    /**
     * @param opening called once, when the run begins
     * @param waiting receives the nodes for which the run waits before
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
    protected RunListener next() {
        return listener;
    }
}
