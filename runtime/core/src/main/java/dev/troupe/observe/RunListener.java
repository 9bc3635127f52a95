package dev.troupe.observe;

import dev.troupe.bits.BitKey;
import dev.troupe.bits.StepBits;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.watch.Notice;
import dev.troupe.schedule.idle.StepTimes;
import java.nio.file.Path;
import java.util.List;

/**
 * The listener of a run. Every method is called on the coordinator's thread, one call at a time. An exception ends the
 * run, with its message as the reason.
 */
public interface RunListener {
    /** A node has joined; {@code missing} have not yet. */
    default void onWaiting(List<String> missing) {
    }

    /**
     * All nodes have joined, and each kind of kernel has run once, which took the slowest node {@code warmUpSeconds}:
     * the run begins. No file is written before this call.
     */
    default void onBegin(double warmUpSeconds) {
    }

    /** All ranks have their weights; the first step begins. */
    default void onStarted() {
    }

    /** The times of all ranks in the step that is told next; not told of a step whose ranks were lost since. */
    default void onTimes(StepTimes times) {
    }

    /** The digests of the step that is told next; not told of an engine that computes nothing. */
    default void onBits(StepBits bits) {
    }

    /** Returns an output of a step in words: its place in the model and in the data. */
    default String wordsOf(long step, BitKey output) {
        return output.toString();
    }

    /** A step is committed; {@code seconds} is its wall time. */
    default void onStep(StepResult result, double seconds) {
    }

    /** The validation loss, the mean over all its microbatches, after {@code stepsDone} steps. */
    default void onValidated(long stepsDone, double loss) {
    }

    /** A checkpoint is complete in a directory. */
    default void onCheckpoint(long stepsDone, Path directory) {
    }

    /**
     * A checkpoint could not be written, for the reason in this sentence; the run continues, and the earlier checkpoint
     * is valid.
     */
    default void onCheckpointFailed(long stepsDone, String why) {
    }

    /** A notice on the speed of the run for its user. */
    default void onNotice(Notice notice) {
    }

    /** Returns the times of steps that another process reported before this one took over, in their order, in seconds. */
    default List<Double> earlierStepSeconds() {
        return List.of();
    }

    /** The number of steps of the run that another process reported before this one took over. */
    default long committedSteps() {
        return 0;
    }

    /**
     * An epoch begins, since something has failed.
     *
     * @param ranks the ranks that start again; none where messages were lost and are sent again
     * @param reason what had happened, in one sentence
     */
    default void onRecoveryBegins(int epoch, long stepsDone, List<Integer> ranks, String reason) {
    }

    /** The run has recovered from a failure: the failed ranks were restarted and have caught up. */
    default void onRecovery(Recovery recovery) {
    }
}
