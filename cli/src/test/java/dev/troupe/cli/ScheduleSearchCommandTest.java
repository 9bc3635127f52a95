package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.stop.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** From costs and a slow link to rows, and from the rows to a run. */
@Tag("real")
@Timeout(120)
class ScheduleSearchCommandTest {
    private static final Pattern STEP = Pattern.compile("search: ([\\d.]+) units, ");
    private static final Pattern CREDITS = Pattern.compile("transport\\.credits = (\\d+)");

    @TempDir
    private Path folder;

    private static Door search(String... more) {
        List<String> words = new ArrayList<>(List.of("schedule", "--search", "--seconds", "0"));
        words.addAll(List.of(more));
        return Door.call(words.toArray(String[]::new));
    }

    /** 65 units are the shortest by name within one and a half of the memory of zbv. */
    @Test
    void shouldPrintFewerUnitsThanTheBestByNameAtAHopOfAStageTime() {
        String output = search("--pipeline", "4", "--microbatches", "8", "--hop", "1").output();
        Matcher step = STEP.matcher(output);
        assertTrue(step.find(), output);
        assertTrue(Double.parseDouble(step.group(1)) <= 0.92 * 65, output);
        assertTrue(
                output.contains(" below the best by name that fits, zbv with 65 units; no plan of one or two stages"
                        + " a rank takes less than 54 units"),
                output);
        assertTrue(output.contains("chunks on the fullest rank, of at most 12; zbv needs 8"), output);
        assertTrue(output.contains("\nmakespan: " + step.group(1) + " units\n"), output);
    }

    @Test
    void shouldTakeZbvOnAFastLink() {
        String output = search("--pipeline", "4", "--microbatches", "32").output();
        assertTrue(
                output.contains("search: takes zbv, 195 units; no plan of one or two stages a rank takes less than 195"
                        + " units"),
                output);
        assertTrue(output.startsWith("zbv: 195 units"), output);
    }

    @Test
    void shouldTrainTheFoundRowsToTheBitsOfGPipe() {
        Path rows = folder.resolve("found.csv");
        Golden golden = Golden.named(Golden.UNTIED);
        int microbatches = golden.settings().stream().filter(value -> value.startsWith("training.global-batch-size="))
                .mapToInt(value -> Integer.parseInt(value.substring(value.indexOf('=') + 1))).findFirst().orElseThrow();
        Door door = search("--pipeline", "2", "--microbatches", "" + microbatches, "--costs", "1,1,1:3,1,1:1,2,1:1,1,4",
                "--hop", "4", "--format", "csv",
                "--out", rows.toString());
        assertEquals(ExitCode.DONE, door.exitCode(), door.refusal());
        assertTrue(STEP.matcher(door.output()).find(), door.output());
        Matcher credits = CREDITS.matcher(door.output());
        assertTrue(credits.find(), door.output());
        assertEquals(RunFiles.results(train(golden, "gpipe", 1, 2)), RunFiles.results(train(golden, rows.toString(),
                door.output().contains("virtual-stages = 2") ? 2 : 1, Integer.parseInt(credits.group(1)))));
    }

    private Path train(Golden golden, String schedule, int virtualStages, int credits) {
        Path run = folder.resolve("as-" + Path.of(schedule).getFileName());
        Execution.train(run, new ArrayList<>(golden.settings("engine.kind=reference", "training.precision=float64",
                "parallel.schedule=" + schedule, "parallel.pipeline=2", "training.microbatch-size=1",
                "parallel.virtual-stages=" + virtualStages, "transport.credits=" + credits))).requireDone();
        return run;
    }

    @Test
    void shouldRefuseWhatItCannotSearch() {
        Path file = folder.resolve("found.csv");
        assertRefused("--search is in place of a name, but found 1f1b", "1f1b", "--pipeline", "2", "--microbatches",
                "2");
        assertRefused("a schedule by name needs --pipeline and --microbatches", "--out", file.toString());
        assertRefused("--memory must be a multiple of the memory of zbv such as 1.5x", "--pipeline", "2",
                "--microbatches", "2", "--memory", "some", "--out", file.toString());
        assertRefused("--memory: no plan of 4 ranks fits: with one microbatch at a time rank 0 needs 2 bytes, but its"
                + " machine 0 has 1", "--pipeline", "4", "--microbatches", "2", "--memory", "1");
        assertRefused("--search has no forwards that are computed again", "--pipeline", "2", "--microbatches", "2",
                "--recompute", "1");
        assertRefused("a search needs a part of the model for each rank, but there are 2 for 4 ranks", "--pipeline",
                "4",
                "--microbatches", "2", "--costs", "1,1,1:1,1,1");
        assertFalse(Files.exists(file));
        assertTrue(Door.call("schedule", "1f1b", "--memory", "1x").refusal().contains("--memory is of a search"));
        assertTrue(Door.call("schedule").refusal().contains("schedule needs the name of a schedule"));
    }

    private static void assertRefused(String sentence, String... words) {
        Door door = search(words);
        assertEquals(ExitCode.WRONG_REQUEST, door.exitCode(), door.output());
        assertTrue(door.refusal().contains(sentence), door.refusal());
    }
}
