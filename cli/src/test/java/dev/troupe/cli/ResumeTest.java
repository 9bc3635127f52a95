package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.look.output.MetricsLog;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.protocol.StepResult;
import dev.troupe.protocol.WarmUpReport;
import dev.troupe.run.TrainingRun;
import dev.troupe.run.TransportOf;
import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunNews;
import dev.troupe.run.news.RunOutcome;
import dev.troupe.transport.Transport;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A run that was stopped and resumed has the bits of a run that never stopped. */
@Tag("real")
@Dealt(5)
@Timeout(120)
class ResumeTest {
    private static final String STEPS = "training.steps=";
    /** More steps than a run does before it is stopped. */
    private static final int NEVER = 1_000_000;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"reference", "nd4j"})
    void shouldResumeInPlaceBitForBit(String engine) {
        Golden golden = Golden.named(Golden.TIED);
        Path whole = train("whole", golden.settings("engine.kind=" + engine, "parallel.pipeline=2"));
        Path cut = train("cut", golden.settings("engine.kind=" + engine, "parallel.pipeline=2", STEPS + 2));
        assertEquals(RunFiles.results(whole).subList(0, 2), RunFiles.results(cut));
        Execution.resume(cut, "-s", STEPS + golden.steps()).requireDone();
        RunFiles.assertSameBits(whole, cut);
    }

    @Test
    void shouldResumeUnderAnotherSplit() {
        Golden golden = Golden.named(Golden.UNEVEN);
        Path whole = train("whole", golden.settings("engine.kind=reference"));
        Path cut = train("cut", golden.settings("engine.kind=reference", "parallel.pipeline=4",
                "parallel.layout=E|ttt|ttt|L", STEPS + 1));
        Execution.resume(cut, "-s", STEPS + 3, "-s", "parallel.pipeline=3", "-s", "parallel.layout=parameters", "-s",
                "parallel.virtual-stages=2", "-s", "parallel.schedule=interleaved-1f1b").requireDone();
        Execution.resume(cut, "-s", STEPS + golden.steps(), "-s", "parallel.pipeline=1", "-s",
                "parallel.layout=uniform", "-s",
                "parallel.virtual-stages=1", "-s", "parallel.schedule=gpipe").requireDone();
        RunFiles.assertSameBits(whole, cut);
    }

    @Test
    void shouldResumeUnderAnotherGrid() {
        Golden golden = Golden.named(Golden.TIED);
        Path run = train("run", golden.settings("engine.kind=reference", "training.precision=float64",
                "parallel.pipeline=2", "parallel.tensor=2", "parallel.data=2", "parallel.sequence=true",
                "training.microbatch-size=1", STEPS + 2));
        byte[] exported = RunFiles.exportedBytes(run);
        for (List<String> grid : List.of(grid(1, 4, 1, false), grid(4, 1, 4, false), grid(2, 2, 1, true))) {
            Execution.resume(run, grid.toArray(String[]::new)).requireDone();
            assertArrayEquals(exported, RunFiles.exportedBytes(run), "read back under " + grid);
        }
        List<String> interleaved = new ArrayList<>(grid(2, 4, 2, true));
        interleaved.addAll(List.of("-s", "parallel.virtual-stages=2", "-s", "parallel.schedule=interleaved-1f1b", "-s",
                STEPS + 3));
        Execution.resume(run, interleaved.toArray(String[]::new)).requireDone();
        List<String> alone = new ArrayList<>(grid(1, 1, 1, false));
        alone.addAll(List.of("-s", "parallel.virtual-stages=1", "-s", "parallel.schedule=1f1b", "-s",
                STEPS + golden.steps()));
        Execution.resume(run, alone.toArray(String[]::new)).requireDone();
        double[] losses = RunFiles.metrics(run, "loss");
        for (int step = 0; step < golden.steps(); step++) {
            assertEquals(golden.losses()[step], losses[step], 1e-9 * golden.losses()[step], "loss of step " + step);
        }
    }

    /** A checkpoint has each expert once, whatever ranks had it. */
    @Test
    void shouldResumeWithExpertsOnOtherRanks() {
        Golden golden = Golden.named("mixtral");
        Path run = train("run", golden.settings("engine.kind=reference", "training.precision=float64",
                "parallel.pipeline=2", "parallel.data=2", "parallel.expert=2", "training.zero=1",
                "training.microbatch-size=1", STEPS + 2));
        byte[] exported = RunFiles.exportedBytes(run);
        Execution.resume(run, "-s", "parallel.expert=1").requireDone();
        assertArrayEquals(exported, RunFiles.exportedBytes(run));
        Execution.resume(run, "-s", "parallel.expert=1", "-s", "parallel.data=1", "-s", "training.zero=0", "-s",
                STEPS + 3).requireDone();
        Execution.resume(run, "-s", "parallel.expert=4", "-s", "parallel.data=4", "-s", "parallel.pipeline=1", "-s",
                "training.zero=3", "-s", STEPS + golden.steps()).requireDone();
        double[] losses = RunFiles.metrics(run, "loss");
        for (int step = 0; step < golden.steps(); step++) {
            assertEquals(golden.losses()[step], losses[step], 1e-9 * golden.losses()[step], "loss of step " + step);
        }
    }

    private static List<String> grid(int pipeline, int tensor, int data, boolean sequence) {
        return List.of("-s", "parallel.pipeline=" + pipeline, "-s", "parallel.tensor=" + tensor, "-s",
                "parallel.data=" + data, "-s", "parallel.sequence=" + sequence);
    }

    @Test
    void shouldResumeInANewDirectoryAndLeaveTheOldOneAsItIs() {
        Golden golden = Golden.named(Golden.UNTIED);
        Path whole = train("whole", golden.settings("engine.kind=reference", "parallel.pipeline=2"));
        Path cut = train("cut", golden.settings("engine.kind=reference", "parallel.pipeline=2", STEPS + 4,
                "training.checkpoint-every=1", "training.keep-checkpoints=0"));
        List<String> before = files(cut);
        Path tail = directory.resolve("tail");
        Path second = cut.resolve("checkpoints").resolve("step-000002");
        Execution.resume(second, "--out", tail.toString(), "-s",
                STEPS + golden.steps()).requireDone();
        assertEquals(before, files(cut));
        List<String> results = RunFiles.results(whole);
        assertEquals(results.subList(2, results.size()), RunFiles.results(tail));
        assertArrayEquals(RunFiles.exportedBytes(whole), RunFiles.exportedBytes(tail));
    }

    @Test
    void shouldGoBackInPlaceOnceLaterCheckpointsAreOutOfTheWay() throws IOException {
        Golden golden = Golden.named(Golden.TIED);
        Path whole = train("whole", golden.settings("engine.kind=reference", "parallel.pipeline=2"));
        Path cut = train("cut", golden.settings("engine.kind=reference", "parallel.pipeline=2", STEPS + 4,
                "training.checkpoint-every=2"));
        Path second = cut.resolve("checkpoints").resolve("step-000002");
        List<String> before = files(cut);
        Execution.resume(second).requireRefused("after 4 steps", "after 2",
                "--out");
        assertEquals(before, files(cut));
        Files.move(second.resolveSibling("step-000004"), directory.resolve("later"));
        Execution.resume(second, "-s", STEPS + golden.steps()).requireDone();
        RunFiles.assertSameBits(whole, cut);
    }

    @Test
    void shouldPassOverADamagedCheckpointAndResumeFromTheOneBefore() throws IOException {
        Golden golden = Golden.named(Golden.TIED);
        Path whole = train("whole", golden.settings("engine.kind=reference", "parallel.pipeline=2"));
        Path cut = train("cut", golden.settings("engine.kind=reference", "parallel.pipeline=2", STEPS + 3,
                "training.checkpoint-every=1"));
        Path checkpoints = cut.resolve("checkpoints");
        assertEquals(List.of("step-000002", "step-000003"), names(checkpoints));
        Path part = checkpoints.resolve("step-000003").resolve("rank-001.safetensors");
        byte[] bytes = Files.readAllBytes(part);
        bytes[bytes.length / 2] ^= 1;
        Files.write(part, bytes);
        Execution resumed = Execution.resume(cut, "-s", STEPS + golden.steps());
        resumed.requireDone();
        assertTrue(resumed.output().contains("Passed over a checkpoint: " + part
                + " is damaged (its SHA-256 differs from the manifest's).\nResuming after step 1; step 2 is repeated."),
                resumed.output());
        RunFiles.assertSameBits(whole, cut);
    }

    @Test
    void shouldResumeWithoutALineOfMetricsThatIsDamaged() throws IOException {
        Golden golden = Golden.named(Golden.TIED);
        Path whole = train("whole", golden.settings("engine.kind=reference", "parallel.pipeline=2"));
        Path cut = train("cut", golden.settings("engine.kind=reference", "parallel.pipeline=2", STEPS + 3));
        for (String name : List.of("metrics.jsonl", "events.jsonl")) {
            byte[] bytes = Files.readAllBytes(cut.resolve(name));
            bytes[10] ^= (byte) 0x80;
            Files.write(cut.resolve(name), bytes);
        }
        String output = Execution.resume(cut, "-s", STEPS + golden.steps()).requireDone().output();
        for (String name : List.of("metrics.jsonl", "events.jsonl")) {
            assertTrue(output.contains(cut.resolve(name) + " is damaged: line 1 cannot be read and is in " + name
                    + ".damaged now; the run continues without it"), output);
        }
        List<String> results = RunFiles.results(whole);
        assertEquals(results.subList(1, results.size()), RunFiles.results(cut));
        assertArrayEquals(RunFiles.exportedBytes(whole), RunFiles.exportedBytes(cut));
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void shouldHaveNothingToDoWhenAllStepsAreDone() {
        Golden golden = Golden.named(Golden.TIED);
        Path run = train("run", golden.settings("engine.kind=reference", "parallel.pipeline=2", STEPS + 2));
        List<String> results = RunFiles.results(run);
        byte[] weights = RunFiles.exportedBytes(run);
        String output = Execution.resume(run).requireDone().output();
        assertTrue(output.contains("All 2 steps are done; the model is written again."), output);
        assertTrue(output.contains(" is done after 2 steps; -s training.steps=N continues it."), output);
        assertFalse(output.contains("NaN") || output.contains("The loss"), output);
        assertEquals(results, RunFiles.results(run));
        assertArrayEquals(weights, RunFiles.exportedBytes(run));
    }

    @Test
    void shouldLeaveACheckpointWhenItIsStopped() throws InterruptedException {
        Golden golden = Golden.named(Golden.TIED);
        Path stopped = directory.resolve("stopped");
        List<String> settings = golden.settings("engine.kind=reference", "parallel.pipeline=3", STEPS + NEVER);
        RunSpec spec = RunSpecReader.read(Optional.empty(), settings);
        RunRequest request = new RunRequest(spec, new byte[0], stopped, Optional.empty(), OptionalLong.empty());
        CompletableFuture<TrainingRun> training = new CompletableFuture<>();
        RunOutcome outcome;
        try (PreparedRun run = PreparedRun.of(request);
                Transport transport = TransportOf.run(run);
                RunDirectory runDirectory = RunDirectory.open(stopped);
                MetricsLog metrics = MetricsLog.open(runDirectory.metrics(), 0, Assertions::fail)) {
            Files.writeString(runDirectory.config(), spec.toHocon());
            training.complete(TrainingRun.start(run, runDirectory, transport, WarmUpReport.NOTHING_TO_RUN,
                    new StopAfterTwo(training, metrics)));
            outcome = training.join().await();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        assertEquals(Optional.empty(), outcome.failure());
        assertTrue(outcome.stepsDone() >= 2 && outcome.stepsDone() < NEVER, outcome.toString());
        requireToGoOnBitForBit(stopped, "parallel.pipeline=3");
    }

    /**
     * Stops the run once two steps are committed.
     *
     * @param training the run; its first steps may be committed before its start returns
     */
    private record StopAfterTwo(CompletableFuture<TrainingRun> training, MetricsLog metrics) implements RunListener {
        @Override
        public void on(RunNews news) {
            if (news instanceof RunNews.StepDone(StepResult result, double seconds)) {
                metrics.write(result, 1, 0, seconds);
                if (result.step() == 1) {
                    training.join().stop();
                }
            }
        }
    }

    /** A stop takes any number of steps: the other run has two more than the stopped one. */
    private void requireToGoOnBitForBit(Path stopped, String split) {
        String steps = STEPS + (RunFiles.results(stopped).size() + 2);
        Path whole = train("whole", Golden.named(Golden.TIED).settings("engine.kind=reference", split, steps));
        Execution.resume(stopped, "-s", steps).requireDone();
        RunFiles.assertSameBits(whole, stopped);
    }

    @Tag("long")
    @Test
    void shouldStopCleanlyOnASignalAndResumeBitForBit() throws IOException, InterruptedException {
        Golden golden = Golden.named(Golden.TIED);
        Path run = directory.resolve("signalled");
        List<String> arguments = new ArrayList<>(List.of("train", "--out", run.toString()));
        golden.settings("engine.kind=reference", "parallel.pipeline=2", STEPS + NEVER)
                .forEach(setting -> arguments.addAll(List.of("-s", setting)));
        Process process = new ProcessBuilder(
                OtherJvm.command(OtherJvm.briefFlags(), Troupe.class, arguments)).redirectErrorStream(true).start();
        try (BufferedReader output = process.inputReader()) {
            readUntil(output, "step 1/");
            assertTrue(process.toHandle().destroy(), "a signal asks the process to end");
            readUntil(output, "resume with: ./troupe train --resume " + run);
            assertTrue(process.waitFor(60, TimeUnit.SECONDS), "the process has not ended");
        } finally {
            process.destroyForcibly();
        }
        assertEquals(List.of(), Execution.leftInSharedMemory(process.pid()));
        requireToGoOnBitForBit(run, "parallel.pipeline=2");
    }

    /** Ends with the stream, or with the time of the test. */
    private static void readUntil(BufferedReader output, String awaited) throws IOException {
        StringBuilder read = new StringBuilder();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            read.append(line).append('\n');
            if (line.contains(awaited)) {
                return;
            }
        }
        throw new AssertionError("expected \"" + awaited + "\" in:\n" + read);
    }

    private Path train(String name, List<String> settings) {
        Path run = directory.resolve(name);
        Execution.train(run, settings).requireDone();
        return run;
    }

    /** Every file with its size and time of change. */
    private static List<String> files(Path folder) {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(Files::isRegularFile).map(file -> {
                try {
                    return file + " " + Files.size(file) + " " + Files.getLastModifiedTime(file);
                } catch (IOException failure) {
                    throw new UncheckedIOException(failure);
                }
            }).sorted().toList();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
