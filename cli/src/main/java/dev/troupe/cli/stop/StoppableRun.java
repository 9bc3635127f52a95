package dev.troupe.cli.stop;

import dev.troupe.run.TrainingRun;

/** A run, or the part of it in this process. */
public record StoppableRun(TrainingRun training) implements StopRequests.Stoppable {
    @Override
    public void stop() {
        training.stop();
    }

    @Override
    public void stopNow() {
        training.stopNow();
    }
}
