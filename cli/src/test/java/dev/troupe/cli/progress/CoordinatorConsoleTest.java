package dev.troupe.cli.progress;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.RunFiles;
import dev.troupe.cli.stop.StopRequests;
import dev.troupe.cli.watch.Meters;
import dev.troupe.config.RunSpecReader;
import dev.troupe.look.output.MetricsLog;
import dev.troupe.look.output.RunJournal;
import dev.troupe.plan.prepare.BuiltInCorpus;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.Traffic;
import dev.troupe.rank.lines.JsonLog;
import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunNews;
import dev.troupe.run.news.RunOutcome;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A report that one process begins and another one takes over. */
@Tag("runtime")
class CoordinatorConsoleTest {
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();
    private final PrintStream output = new PrintStream(said, true, StandardCharsets.UTF_8);

    @TempDir
    private Path home;

    private PreparedRun prepare(Path directory, boolean leads) {
        return PreparedRun.of(new RunRequest(
                RunSpecReader.read(Optional.empty(),
                        List.of("engine.kind=emulated", "model.layers=2", "model.hidden=16", "training.steps=4")),
                BuiltInCorpus.utf8(), directory, Optional.empty(), OptionalLong.empty(), false,
                Optional.of(new RunRequest.Share(List.of(0), List.of(), leads))));
    }

    private static RunNews step(long step) {
        return new RunNews.StepDone(new StepResult(step, 5.5 - step, 1, 0.001, 1, false, Traffic.NONE), 1);
    }

    @Test
    void shouldContinueInTheDirectoryOfTheProcessThatIsGone() throws IOException {
        Path directory = home.resolve("run");
        Path metrics = directory.resolve("metrics.jsonl");
        try (PreparedRun run = prepare(directory, true);
                CoordinatorConsole first = new CoordinatorConsole(run, output, Meters.on(0))) {
            RunListener listener = first.lead();
            listener.on(new RunNews.Started(0, 0));
            listener.on(step(0));
            listener.on(step(1));
        }
        List<String> before = Files.readAllLines(metrics);
        Files.writeString(metrics, "{\"step\":2,\"lo", StandardOpenOption.APPEND); // killed as it wrote
        Files.createFile(directory.resolve("run.lock")); // which a process that is killed leaves, without its lock
        assertFalse(said.toString(StandardCharsets.UTF_8).contains(CoordinatorConsole.TAKEN_OVER));
        try (PreparedRun run = prepare(directory, false);
                CoordinatorConsole next = new CoordinatorConsole(run, output, Meters.on(0));
                StopRequests requests = StopRequests.listen(output, "", StopRequests.PATIENCE)) {
            RunListener listener = next.takeOver().listener();
            assertTrue(next.leads());
            listener.on(step(1)); // it was committed, but the coordinator was gone before all ranks knew
            listener.on(step(2));
            listener.on(step(3));
            next.end(new RunOutcome(4, Optional.empty()), requests, Optional.empty());
        }
        String all = said.toString(StandardCharsets.UTF_8);
        assertTrue(all.contains(CoordinatorConsole.TAKEN_OVER), all);
        assertEquals(before, Files.readAllLines(metrics).subList(0, 2));
        assertArrayEquals(new double[]{0, 1, 2, 3}, RunFiles.metrics(directory, "step"));
        assertTrue(Files.notExists(directory.resolve("run.lock")));
    }

    /** The former coordinator was lost between the commit of a step and its line, once before a step and once at the end. */
    @Test
    void shouldReportCommittedStepsWithoutALine() throws IOException {
        Path directory = home.resolve("run");
        for (boolean isFirst : List.of(true, false)) {
            try (PreparedRun run = prepare(directory, isFirst);
                    RunJournal journal = isFirst
                            ? RunJournal.begin(run, List.of(), Assertions::fail)
                            : RunJournal.takeOver(run, List.of(), output::println)) {
                journal.on(step(isFirst ? 0 : 2));
                if (!isFirst) {
                    journal.end(new RunOutcome(4, Optional.of("to its end")), false);
                }
            }
        }
        String sentence = " without a line in metrics.jsonl: the process that led the run ended before it wrote the line";
        assertEquals(List.of("step 1" + sentence, "step 3" + sentence),
                said.toString(StandardCharsets.UTF_8).lines().toList());
        assertEquals(List.of("metrics-missing", "metrics-missing", "failed"),
                JsonLog.objects(directory.resolve("events.jsonl")).stream().map(line -> line.path("event").asText())
                        .toList());
    }

    /** The former coordinator committed the last step, and was lost before the end. */
    @Test
    void shouldReadTheLastLossesOfARunThatHasNoStepLeft() {
        Path directory = home.resolve("run");
        try (PreparedRun run = prepare(directory, true);
                CoordinatorConsole first = new CoordinatorConsole(run, output, Meters.on(0))) {
            RunListener listener = first.lead();
            listener.on(new RunNews.Started(0, 0));
            for (int step = 0; step < 4; step++) {
                listener.on(step(step));
            }
            listener.on(new RunNews.Validated(4, 2.75));
        }
        try (PreparedRun run = prepare(directory, false);
                RunJournal journal = RunJournal.takeOver(run, List.of(), Assertions::fail)) {
            assertEquals(5.5, journal.firstLoss());
            assertEquals(2.5, journal.lastLoss());
            assertEquals(2.75, journal.validationLoss());
        }
    }

    /** The end reports on the whole run. */
    @Test
    void shouldReadTheFirstLossOfARunThatWasTakenOver() throws IOException {
        Path file = Files.writeString(home.resolve("metrics.jsonl"),
                "{\"step\":3,\"loss\":2.5}\n{\"step\":4,\"loss\":2.25}\n{\"steps_done\":5,\"checkpoint_failed\":\"full\"}\n");
        assertEquals(2.25, MetricsLog.lossOf(file, 4).orElseThrow());
        assertTrue(MetricsLog.lossOf(file, 5).isEmpty());
        assertTrue(MetricsLog.lossOf(home.resolve("none"), 0).isEmpty());
        try (MetricsLog log = MetricsLog.takeOver(file, _ -> {
        })) {
            assertEquals(5, log.nextStep());
        }
        assertEquals(3, Files.readAllLines(file).size());
    }
}
