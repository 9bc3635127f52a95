package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** Runs with overlapping steps, in a directory of their own. */
abstract class OverlappingRuns {
    @TempDir
    Path directory;

    @AfterEach
    void leaveNothing() throws InterruptedException {
        FaultyEngineProvider.breakNothing();
        Leftovers.requireNoThread();
    }

    Path train(String name, List<String> settings) {
        Path run = directory.resolve(name);
        Execution.train(run, settings).requireDone();
        return run;
    }

    /** Asserts that a run on the faulty engine has the same bits whether or not a call of a rank's kernel breaks. */
    void assertRecovers(List<String> settings, int rank, String kernel, int call) {
        Path whole = train("whole", settings);
        FaultyEngineProvider.breakCall(rank, kernel, call);
        Path run = train("run", settings);
        assertTrue(FaultyEngineProvider.hasBroken(), "nothing failed");
        RunFiles.assertSameBits(whole, run);
    }
}
