package dev.troupe.observe;

import dev.troupe.machine.Notice;
import dev.troupe.machine.Recovery;
import dev.troupe.machine.StepResult;
import java.nio.file.Path;
import java.util.List;

/**
 * Hears how a run goes. Every method is called on the coordinator's thread, one call at a time. An exception ends the run,
 * and its words are the reason.
 */
public interface RunListener {
    /** A node has joined; these have not yet. */
    default void onWaiting(List<String> missing) {
    }

    /**
     * All nodes are there, and each kind of kernel has run once, which took the slowest node so many seconds: the run
     * begins. Before this nothing is written.
     */
    default void onBegin(double warmUpSeconds) {
    }

    /** All ranks have their weights; the first step begins. */
    default void onStarted() {
    }

    /** A step is committed; {@code seconds} is its time on the clock. */
    default void onStep(StepResult result, double seconds) {
    }

    /** The validation loss, the mean over all its microbatches, after so many steps. */
    default void onValidated(long stepsDone, double loss) {
    }

    /** A checkpoint stands in a directory. */
    default void onCheckpoint(long stepsDone, Path directory) {
    }

    /** A checkpoint could not be written, for the reason in this sentence; the run goes on, and the one before stands. */
    default void onCheckpointFailed(long stepsDone, String why) {
    }

    /** Something about the speed of the run that its user should know. */
    default void onNotice(Notice notice) {
    }

    /** The times of steps that another process reported before this one took over, in their order, in seconds. */
    default List<Double> earlierStepSeconds() {
        return List.of();
    }

    /** The number of steps of the run that another process reported before this one took over. */
    default long committedSteps() {
        return 0;
    }

    /** A failure is behind: what failed has been started again and has caught up. */
    default void onRecovery(Recovery recovery) {
    }
}
