package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.plan.prepare.EngineChoice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("real")
@Dealt(4)
class CompareCommandTest {
    private static final List<String> TINY = List.of("-s", "parallel.pipeline=2", "-s", "model.layers=2", "-s",
            "model.hidden=8", "-s", "model.heads=2", "-s", "model.sequence-length=8", "-s",
            "training.global-batch-size=4", "-s", "training.microbatch-size=1", "--repeats", "1", "--steps", "2");

    @TempDir
    private Path folder;

    @Test
    void shouldCompareWhatTheReferenceComputes() throws IOException {
        Path out = folder.resolve("reference");
        Door door = compare(out, "gpipe,1f1b,zbv", "engine.kind=reference", "training.precision=float64");
        assertEquals(ExitCode.DONE, door.exitCode(), door::refusal);

        JsonNode schedules = json(out).get("schedules");
        assertEquals(3, schedules.size());
        for (JsonNode schedule : schedules) {
            assertEquals("the same to the bit", schedule.get("agreement").asText());
            assertEquals(schedules.get(0).get("losses"), schedule.get("losses"));
            assertEquals(schedule.get("predicted").get("peak_activations"),
                    schedule.get("measured").get("peak_activations"));
        }
        assertTrue(schedules.get(0).get("losses").get(0).asDouble() > 5, "of 256 bytes at first: ln 256 = 5.5");
        assertEquals(3, door.output().split("the same to the bit", -1).length - 1);
    }

    @Test
    void shouldWriteTheSameFiguresAsTableJsonAndReport() throws IOException {
        Path out = folder.resolve("emulated");
        Door door = compare(out, "gpipe,zbv", "engine.kind=emulated", "engine.emulated.forward=300us",
                "engine.emulated.backward-input=300us", "engine.emulated.backward-weight=300us");
        assertEquals(ExitCode.DONE, door.exitCode(), door::refusal);
        assertEquals(List.of("comparison.json", "config.conf", "report.html", "trace.json"), names(out));

        String report = Files.readString(out.resolve("report.html"));
        List<String> rows = door.output().lines().filter(line -> line.contains("nothing computed")).toList();
        JsonNode schedules = json(out).get("schedules");
        assertEquals(2, rows.size());
        for (int i = 0; i < 2; i++) {
            String label = List.of("gpipe", "zbv, V = 2").get(i);
            assertTrue(rows.get(i).startsWith(label + " "), rows.get(i));
            for (String figure : figures(schedules.get(i))) {
                assertTrue(rows.get(i).contains(figure), figure + " in " + rows.get(i));
                assertTrue(report.contains(figure.replace("->", "&rarr;")), figure + " in the report");
            }
            assertTrue(report.contains(">" + label + ", predicted<"), "its drawing");
            assertTrue(report.contains(">" + label + ", measured<"), "its drawing");
        }
        assertSelfContained(report);
        assertEquals(2 * 13, report.split("<td data-label=", -1).length - 1, "a narrow page names each cell");
        for (String width : report.split("<svg[^>]* width=\"")) {
            assertTrue(width.startsWith("<!") || Double.parseDouble(width.substring(0, width.indexOf('"'))) <= 1248,
                    "a drawing fits a page of 1280 pixels");
        }
        assertTrue(door.output().contains("had the smallest bubble"), door.output());
    }

    /** A measured step lasts until its weights are updated. */
    @Test
    void shouldPredictTheStepWithItsUpdate() throws IOException {
        Path out = folder.resolve("update");
        Door door = compare(out, "gpipe", "engine.kind=emulated", "engine.emulated.update=200ms");
        assertEquals(ExitCode.DONE, door.exitCode(), door::refusal);

        JsonNode gpipe = json(out).get("schedules").get(0);
        assertTrue(gpipe.get("predicted").get("step_seconds").asDouble() > 0.2, gpipe::toString);
        assertTrue(gpipe.get("measured").get("step_seconds").asDouble() > 0.2, gpipe::toString);
    }

    /** Cells of the table, made from the JSON. */
    private static List<String> figures(JsonNode schedule) {
        List<String> cells = new ArrayList<>();
        JsonNode predicted = schedule.get("predicted");
        JsonNode measured = schedule.get("measured");
        for (JsonNode figures : List.of(predicted, measured)) {
            cells.add(String.format(Locale.ROOT, "%.1f ms", 1000 * figures.get("step_seconds").asDouble()));
            cells.add(String.format(Locale.ROOT, "%.1f .. %.1f ms", 1000 * figures.get("step_seconds_least").asDouble(),
                    1000 * figures.get("step_seconds_most").asDouble()));
        }
        for (String bubble : List.of("bubble_over_ideal", "bubble_over_total")) {
            cells.add(String.format(Locale.ROOT, "%.1f -> %.1f %%", 100 * predicted.get(bubble).asDouble(),
                    100 * measured.get(bubble).asDouble()));
        }
        cells.add(predicted.get("peak_activations").asInt() + " -> " + measured.get("peak_activations").asInt());
        cells.add(schedule.get("agreement").asText());
        return cells;
    }

    /** Nothing is loaded from anywhere; the name of SVG's language is no address. */
    private static void assertSelfContained(String report) {
        String bare = report.replace("http://www.w3.org/2000/svg", "");
        for (String loads : List.of("http:", "https:", "src=", "href=", "url(", "@import", "<script")) {
            assertFalse(bare.contains(loads), loads);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            gpip             |                 | There is no schedule "gpip": did you mean "gpipe"?
            gpipe,gpipe      |                 | expected each schedule once, but found gpipe twice
            interleaved-1f1b:4 |               | which make 1 to 4 stages, but found 8
            gpipe            | --repeats=0     | --repeats and --steps of at least 1
            gpipe            | --steps=0       | --repeats and --steps of at least 1
            ,                |                 | compare needs one schedule or more
            """)
    void shouldRefuseWithNothingWritten(String schedules, String option, String words) {
        Path out = folder.resolve("refused");
        List<String> arguments = new ArrayList<>(List.of("compare", "--schedules", schedules, "--out", out.toString(),
                "-s", "engine.kind=reference", "-s", "parallel.pipeline=2", "-s", "model.layers=2"));
        if (option != null) {
            arguments.add(option);
        }
        Door door = Door.call(arguments.toArray(String[]::new));
        assertTrue(door.refusal().contains(words), door.refusal());
        assertEquals(ExitCode.WRONG_REQUEST, door.exitCode());
        assertFalse(Files.exists(out));
    }

    /** A rate so high that after a dozen steps the last bit of a sum, in another order, decides the losses. */
    @Test
    void shouldFailWhenLossesDiffer() {
        Path out = folder.resolve("differ");
        List<String> arguments = arguments(out, "gpipe,looped-bfs:1", "engine.kind=reference",
                "training.learning-rate.peak=1");
        arguments.set(arguments.indexOf("--steps") + 1, "12");
        Execution execution = Execution.of(arguments);
        execution.requireFailed("troupe: looped-bfs does not have the losses of the first schedule: [",
                " instead of [");
        assertEquals(1, execution.errors().lines().count(), execution.errors());
        assertFalse(Files.exists(out));
    }

    @Test
    void shouldLeaveNothingWhenARunFails() throws IOException {
        Path out = folder.resolve("fails");
        Path empty = Files.createDirectory(folder.resolve("empty"));
        try {
            for (Path directory : List.of(out, empty)) {
                // Each of the two schedules is checked first, with an engine of its own.
                FaultyEngineProvider.breakCall(2 + 1, "causalAttention", 3);
                Execution.of(arguments(directory, "gpipe,1f1b", "engine.kind=" + FaultyEngineProvider.KIND))
                        .requireFailed("troupe: gpipe failed: rank 1: stage 1 failed in 1F2 in step 0",
                                "the wire came loose");
            }
        } finally {
            FaultyEngineProvider.breakNothing();
        }
        assertFalse(Files.exists(out));
        assertEquals(List.of(), names(empty), "it was there before");
    }

    @Test
    void shouldNameTheEngineThatAutoTook() throws IOException {
        Path out = folder.resolve("auto");
        Door door = compare(out, "1f1b", "engine.kind=auto");
        assertEquals(ExitCode.DONE, door.exitCode(), door::refusal);
        String taken = EngineChoice.installed().getFirst().kind();
        assertEquals(taken, json(out).get("engine").asText());
        assertTrue(door.output().contains("2 ranks, 4 microbatches of 1 a step, engine " + taken + "\n"),
                door.output());
        assertTrue(Files.readString(out.resolve("report.html")).contains(" a step, engine " + taken + "."));
    }

    private static Door compare(Path out, String schedules, String... settings) {
        return Door.call(arguments(out, schedules, settings).toArray(String[]::new));
    }

    private static List<String> arguments(Path out, String schedules, String... settings) {
        List<String> arguments = new ArrayList<>(List.of("compare", "--schedules", schedules, "--out", out.toString()));
        arguments.addAll(TINY);
        Stream.of(settings).forEach(setting -> arguments.addAll(List.of("-s", setting)));
        return arguments;
    }

    private static JsonNode json(Path out) throws IOException {
        return new JsonMapper().readTree(out.resolve("comparison.json").toFile());
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }
}
