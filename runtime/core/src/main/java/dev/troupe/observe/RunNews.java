package dev.troupe.observe;

import dev.troupe.bits.StepBits;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.watch.Notice;
import dev.troupe.schedule.idle.MeasuredStep;
import dev.troupe.schedule.idle.StepTimes;
import java.nio.file.Path;
import java.util.List;

/**
 * The news of a run, for each {@link RunListener} in the process of its coordinator.
 *
 * <p>A listener reads the records that concern it and ignores the others, so that a new record changes no listener but its
 * reader. An {@link Event} needs no reader: its file, the page and the library have it by itself.
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
     * @param warmUpSeconds the time in which the slowest node ran each kind of kernel once
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
        /** Its name in the file. */
        String kind();

        int epoch();

        /** The number of steps that were committed by then. */
        long stepsDone();

        /** The event for a person. */
        String sentence();

        /** The ranks that are concerned; none if all are, or none in particular. */
        default List<Integer> ranks() {
            return List.of();
        }
    }

    /** All ranks have their weights, and the first step begins. */
    record Started(int epoch, long stepsDone) implements Event {
        @Override
        public String kind() {
            return "started";
        }

        @Override
        public String sentence() {
            return "the first step begins";
        }
    }

    /** A checkpoint is complete in a directory. */
    record CheckpointDone(int epoch, long stepsDone, Path directory) implements Event {
        @Override
        public String kind() {
            return "checkpoint";
        }

        @Override
        public String sentence() {
            return "a checkpoint is complete in " + directory;
        }
    }

    /** A checkpoint could not be written; the run continues, and the earlier checkpoint is valid. */
    record CheckpointFailed(int epoch, long stepsDone, String sentence) implements Event {
        @Override
        public String kind() {
            return "checkpoint-failed";
        }
    }

    /**
     * An epoch begins after a failure.
     *
     * @param ranks the ranks that restart; none if messages were lost and are sent again
     * @param sentence the failure
     */
    record RecoveryBegun(int epoch, long stepsDone, List<Integer> ranks, String sentence) implements Event {
        public RecoveryBegun {
            ranks = List.copyOf(ranks);
        }

        @Override
        public String kind() {
            return "recovery-begins";
        }
    }

    /** The run has recovered from a failure: the failed ranks were restarted and have caught up. */
    record Recovered(Recovery recovery) implements Event {
        @Override
        public String kind() {
            return "recovery";
        }

        @Override
        public int epoch() {
            return recovery.epoch();
        }

        @Override
        public long stepsDone() {
            return recovery.step();
        }

        @Override
        public String sentence() {
            return recovery.reason();
        }

        @Override
        public List<Integer> ranks() {
            return recovery.ranks();
        }
    }

    /** A notice on the speed or the loss of the run for its user. */
    record Noticed(Notice notice) implements Event {
        @Override
        public String kind() {
            return notice.kind().code();
        }

        @Override
        public int epoch() {
            return notice.epoch();
        }

        @Override
        public long stepsDone() {
            return notice.stepsDone();
        }

        @Override
        public String sentence() {
            return notice.sentence();
        }

        @Override
        public List<Integer> ranks() {
            return notice.ranks();
        }
    }
}
