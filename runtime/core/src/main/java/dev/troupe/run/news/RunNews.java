package dev.troupe.run.news;

import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.watch.Notice;
import dev.troupe.rank.bits.StepBits;
import dev.troupe.rank.idle.MeasuredStep;
import dev.troupe.rank.idle.StepTimes;
import java.nio.file.Path;
import java.util.List;

/**
 * The news of a run, for each {@link RunListener} in the process of its coordinator.
 *
 * <p>A listener handles the records that it knows and ignores the others, so a new record does not change other listeners.
 * An {@link Event} needs no handler: it goes to the event file, the page and the library automatically.
 */
public sealed interface RunNews {
    /** The run waits for these nodes before it begins. */
    record Waiting(List<String> missing) implements RunNews {
        public Waiting {
            missing = List.copyOf(missing);
        }
    }

    /**
     * All nodes have joined, and the run begins. No file is written before.
     *
     * @param warmUpSeconds the warm-up time of the slowest node
     */
    record Begun(double warmUpSeconds) implements RunNews {
    }

    /** The times of all ranks in the step that is reported next; absent if ranks were lost since. */
    record Timed(StepTimes times) implements RunNews {
    }

    /** The digests of the step that is reported next; absent if the engine computes nothing. */
    record Digested(StepBits bits) implements RunNews {
    }

    /** A step is committed; {@code seconds} is its wall time. */
    record StepDone(StepResult result, double seconds) implements RunNews {
    }

    /** A step with its idle time by cause, some time after {@link StepDone}; steps are left out if the analysis is late. */
    record Measured(MeasuredStep step) implements RunNews {
    }

    /** The validation loss after some steps, the mean over all its microbatches. */
    record Validated(long stepsDone, double loss) implements RunNews {
    }

    /** News that is also a line of {@code events.jsonl}, on the page, and an event for the listener of a program. */
    sealed interface Event extends RunNews {
        Line line();
    }

    /**
     * The line of an event.
     *
     * @param stepsDone steps that were committed by then
     * @param ranks the ranks concerned; empty if all are, or none in particular
     * @param sentence the event as text
     */
    record Line(String kind, int epoch, long stepsDone, List<Integer> ranks, String sentence) {
        Line(String kind, int epoch, long stepsDone, String sentence) {
            this(kind, epoch, stepsDone, List.of(), sentence);
        }
    }

    /** All ranks have their weights, and the first step begins. */
    record Started(int epoch, long stepsDone) implements Event {
        @Override
        public Line line() {
            return new Line("started", epoch, stepsDone, "the first step begins");
        }
    }

    record CheckpointDone(int epoch, long stepsDone, Path directory) implements Event {
        @Override
        public Line line() {
            return new Line("checkpoint", epoch, stepsDone, "a checkpoint is complete in " + directory);
        }
    }

    /** A checkpoint could not be written; the run continues, and the earlier checkpoint is valid. */
    record CheckpointFailed(int epoch, long stepsDone, String why) implements Event {
        @Override
        public Line line() {
            return new Line("checkpoint-failed", epoch, stepsDone, why);
        }
    }

    /**
     * An epoch begins after a failure.
     *
     * @param ranks the ranks that restart; empty if messages were lost and are resent
     */
    record RecoveryBegun(int epoch, long stepsDone, List<Integer> ranks, String why) implements Event {
        public RecoveryBegun {
            ranks = List.copyOf(ranks);
        }

        @Override
        public Line line() {
            return new Line("recovery-begins", epoch, stepsDone, ranks, why);
        }
    }

    /** The run has recovered from a failure: the failed ranks were restarted and have caught up. */
    record Recovered(Recovery recovery) implements Event {
        @Override
        public Line line() {
            return new Line("recovery", recovery.epoch(), recovery.step(), recovery.ranks(), recovery.reason());
        }
    }

    /** A notice for the user on the speed or the loss of the run. */
    record Noticed(Notice notice) implements Event {
        @Override
        public Line line() {
            return new Line(notice.kind().code(), notice.epoch(), notice.stepsDone(), notice.ranks(),
                    notice.sentence());
        }
    }
}
