package dev.troupe.cli.stop;

import dev.troupe.run.TrainingRun;
import java.util.OptionalLong;

/** A run, or the part of it in this process. */
public record StoppableRun(TrainingRun training) implements StopRequests.Stoppable, ParentWatch.Joined {
    @Override
    public void stop() {
        training.stop();
    }

    @Override
    public void stopNow() {
        training.stopNow();
    }

    @Override
    public OptionalLong progress() {
        return training.progress();
    }

    @Override
    public void othersStart() {
        training.othersStart();
    }
}
