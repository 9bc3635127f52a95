package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("real")
@Timeout(300)
class StatusWatchTest {
    @TempDir
    private Path directory;

    @Test
    void shouldShowTheRunOfADirectoryUntilItHasEnded() {
        Path run = directory.resolve("run");
        Execution.train(run, List.of("engine.kind=emulated", "training.steps=3", "parallel.pipeline=2",
                "training.global-batch-size=4", "engine.emulated.forward=1ms", "name=mine")).requireDone();
        Execution once = Execution.of(List.of("status", run.toString()));
        once.requireDone();
        List<String> lines = once.output().lines().toList();
        assertTrue(lines.getFirst().startsWith("mine: done, step 3 of 3, loss "), once.output());
        assertTrue(lines.stream().anyMatch(line -> line.matches("  rank 1    \\|#.{31}\\| \\d+ % busy, .*")),
                once.output());
        assertTrue(lines.contains("step 3: done: all 3 steps are done"), once.output());
        Execution watch = Execution.of(List.of("status", run.toString(), "--watch"));
        watch.requireDone();
        assertEquals(lines.getFirst(), watch.output().lines().toList().getLast());
    }

    @Test
    void shouldReportThatADirectoryHasNoRun() {
        Execution refused = Execution.of(List.of("status", directory.toString(), "--watch"));
        assertEquals(2, refused.exitCode());
        assertTrue(refused.errors().contains(directory + " has no run to show: "), refused.errors());
    }
}
