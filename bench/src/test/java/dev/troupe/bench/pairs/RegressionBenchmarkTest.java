package dev.troupe.bench.pairs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

@Timeout(60)
class RegressionBenchmarkTest {
    @TempDir
    private Path directory;

    @Test
    void shouldReportTheRatioOfTokensToTheCommits() throws Exception {
        Result same = compare(tree("here", 0.5, 5.25), tree("there", 0.5, 5.25));
        assertEquals(0, same.exitCode());
        assertTrue(same.output()
                .contains("| narrow, 1 rank, 2 threads, float32 | 8,192 | 8,192 | **1.000** | 1.000 to 1.000"
                        + " | 3 | yes |"),
                same.output());
        Result slower = compare(tree("slow", 0.52, 5.25), tree("fast", 0.5, 5.125));
        assertEquals(1, slower.exitCode());
        assertTrue(slower.output().contains("| **0.962** | 0.962 to 0.962 | 3 | no |"), slower.output());
    }

    @Test
    void shouldReadWhatComesAfterTheWarmUp() throws Exception {
        Path metrics = Files.writeString(directory.resolve("metrics.jsonl"), """
                {"step":0,"loss":5.5,"step_seconds":9}
                {"steps_done":1,"checkpoint_failed":"no room"}
                {"step":1,"loss":5.25,"step_seconds":0.5}
                """);
        assertEquals(new TimedSteps(List.of(0.5), List.of(5.5, 5.25), 0), CommandRun.read(metrics, 1));
        assertThrows(IllegalStateException.class, () -> CommandRun.read(metrics, 2));
    }

    @Test
    void shouldReportTheOutputOfAFailedRun() throws Exception {
        Path broken = launcher("broken", "echo no such key; exit 2");
        IllegalStateException failure = assertThrows(IllegalStateException.class,
                () -> CommandRun.of(broken, List.of(), 0));
        assertTrue(failure.getMessage().contains("exit code 2"), failure.getMessage());
        assertTrue(failure.getMessage().contains("no such key"), failure.getMessage());
    }

    private record Result(int exitCode, String output) {
    }

    private static Result compare(Path here, Path there) {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        RegressionBenchmark benchmark = new RegressionBenchmark(new PrintStream(output, true, StandardCharsets.UTF_8));
        int exitCode = new CommandLine(benchmark).execute("--here", here.toString(), "--only", "narrow-1", "--pairs",
                "3",
                "--warmup", "0", "--steps", "1", there.toString());
        return new Result(exitCode, output.toString(StandardCharsets.UTF_8));
    }

    /** A checkout in which every run makes one step. */
    private Path tree(String name, double stepSeconds, double loss) throws IOException {
        return launcher(name, """
                mkdir "$3"
                echo '{"step":0,"loss":%s,"step_seconds":%s}' >"$3/metrics.jsonl"
                """.formatted(loss, stepSeconds));
    }

    /** Called as {@code troupe train --out DIRECTORY ...}. */
    private Path launcher(String name, String script) throws IOException {
        Path tree = Files.createDirectory(directory.resolve(name));
        Path launcher = Files.writeString(tree.resolve("troupe"), "#!/usr/bin/env bash\n" + script);
        assertTrue(launcher.toFile().setExecutable(true));
        return tree;
    }
}
