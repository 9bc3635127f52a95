package dev.troupe.cli.stop;

import dev.troupe.run.TrainingRun;

/** A run, or what this process has of it. */
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
