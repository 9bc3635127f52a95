package dev.troupe;

/**
 * The listener of a run. A run calls it from one thread at a time, and waits for it: a method returns quickly, and
 * never waits for the run. An exception or an error, a failed assertion for example, ends the run: it is the cause of
 * the {@link RunFailedException}.
 */
@FunctionalInterface
public interface TrainingListener {
    /** A listener that does nothing. */
    TrainingListener NONE = _ -> {
    };

    /**
     * Handles the begin of the run in this process, before its first step or when this process takes over the lead. The
     * handle can stop the run from any method of this listener.
     */
    default void onStart(TrainingHandle handle) {
    }

    /** A step is committed. */
    void onStep(TrainingStep step);

    /** The validation loss of the weights after some steps. */
    default void onValidation(long stepsDone, double loss) {
    }

    /** A checkpoint was written, a rank was restarted, a stage became slow, and so on. */
    default void onEvent(TrainingEvent event) {
    }
}
