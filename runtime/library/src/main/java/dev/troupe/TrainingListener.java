package dev.troupe;

/**
 * The listener of a run. A run calls it from one thread at a time, and waits for it: a method returns quickly. An exception
 * ends the run, with its message as the reason.
 */
@FunctionalInterface
public interface TrainingListener {
    /** A listener that does nothing. */
    TrainingListener NONE = _ -> {
    };

    /** A step is committed. */
    void onStep(TrainingStep step);

    /** The validation loss of the weights after some steps. */
    default void onValidation(long stepsDone, double loss) {
    }

    /** A checkpoint was written, a rank was restarted, a stage became slow, and so on. */
    default void onEvent(TrainingEvent event) {
    }
}
