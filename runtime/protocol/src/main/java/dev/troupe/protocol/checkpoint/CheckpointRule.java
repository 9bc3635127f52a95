package dev.troupe.protocol.checkpoint;

import dev.troupe.protocol.RunSettings;

/** When the ranks of a run write a checkpoint between two steps. One thread at a time. */
public final class CheckpointRule {
    private final RunSettings settings;
    private long newest;
    private boolean isTimeUp;

    public CheckpointRule(RunSettings settings) {
        this.settings = settings;
        this.newest = settings.savedStep();
    }

    /** One was written so long ago that the next commit is to have one. */
    public void timeIsUp() {
        isTimeUp = true;
    }

    /** Whether one is to be begun after so many steps; asked once for each commit. */
    public boolean takeDue(long stepsDone) {
        boolean isDue = isTimeUp || RunSettings.isDue(settings.checkpointEvery(), stepsDone);
        isTimeUp = false;
        return isDue && newest != stepsDone; // or it stands, where the run went back since
    }

    public void stands(long stepsDone) {
        newest = stepsDone;
    }

    /** Whether what a run is after so many steps is on the disk. */
    public boolean has(long stepsDone) {
        return newest == stepsDone;
    }
}
