package dev.troupe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** Tests with small runs in this JVM, each of which must leave nothing in it. */
abstract class RunsInThisJvm {
    static final int ENDLESS = 1_000_000;

    @TempDir
    Path home;

    @AfterEach
    void leaveNothing() throws InterruptedException, IOException {
        SmallTraining.requireNothingLeft();
    }

    /** Starts a run in the folder {@code run}. */
    TrainingHandle start(int steps, TrainingListener listener) throws InterruptedException {
        return Troupe.start(SmallTraining.spec(home.resolve("run")).steps(steps).build(),
                TrainingData.ofText(SmallTraining.TEXT), listener);
    }

    /** Requires that a run was stopped after some steps, with a checkpoint of the last one. */
    static void requireStopped(TrainingResult result) {
        assertTrue(result.wasStopped());
        assertTrue(result.model().isPresent());
        try (Checkpoint checkpoint = Checkpoint.open(result.directory())) {
            assertEquals(result.stepsDone(), checkpoint.stepsDone());
        }
    }
}
