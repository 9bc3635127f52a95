package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.conformance.share.Dealt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs with the optimizer's state in files have the bits of runs with it in memory. */
@Tag("real")
@Dealt(3)
@Timeout(120)
class OffloadRunTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource({"reference, 1f1b, 1, 1, 0", "cpu, 1f1b, 2, 2, 1", "cpu, pipedream-2bw, 2, 1, 0",
            "nd4j, gpipe, 1, 2, 3"})
    void shouldChangeNoBit(String engine, String schedule, int pipeline, int data, int zero) throws IOException {
        String[] settings = {"engine.kind=" + engine, "parallel.schedule=" + schedule, "parallel.pipeline=" + pipeline,
                "parallel.data=" + data, "training.zero=" + zero, "training.microbatch-size=1"};
        Path inMemory = train("memory", settings);
        Path files = directory.resolve("files");
        Path offloaded = train("disk", with(settings, "offload.optimizer=disk", "offload.directory=" + files));
        RunFiles.assertSameBits(inMemory, offloaded);
    }

    /** Inputs of blocks too, with a failed rank. */
    @ParameterizedTest
    @CsvSource({"cpu, 1f1b, 2, 1", "reference, zb-h1, 2, 2"})
    void shouldChangeNoBitWithInputsInFiles(String engine, String schedule, int pipeline, int tensor)
            throws IOException {
        String[] settings = {"engine.kind=" + engine, "parallel.schedule=" + schedule, "parallel.pipeline=" + pipeline,
                "parallel.tensor=" + tensor, "training.microbatch-size=1", "training.recompute=full"};
        Path inMemory = train("memory", settings);
        Path offloaded = train("disk", with(settings, "offload.activations=disk", "training.recompute-partition=true",
                "faults=[\"exception stage=0 step=1 microbatch=1 at=F\"]"));
        RunFiles.assertSameBits(inMemory, offloaded);
        assertTrue(Files.readString(offloaded.resolve("events.jsonl")).contains("recover"), "nothing was restarted");
    }

    /** A failed rank and a resumed run write their state to new files. */
    @Test
    void shouldContinueFromSnapshotsAndCheckpoints() throws IOException {
        String[] settings = {"engine.kind=reference", "parallel.pipeline=2", "training.microbatch-size=1"};
        Path inMemory = train("memory", settings);
        Path failed = train("failed",
                with(settings, "offload.optimizer=disk", "faults=[\"exception stage=1 step=1 microbatch=1 at=B\"]"));
        assertTrue(Files.readString(failed.resolve("events.jsonl")).contains("recover"), "nothing was restarted");
        RunFiles.assertSameBits(inMemory, failed);
        Path cut = train("cut", with(settings, "offload.optimizer=disk", "training.steps=2"));
        Execution.resume(cut, "-s", "training.steps=" + Golden.named(Golden.TIED).steps(), "-s",
                "offload.optimizer=none").requireDone();
        RunFiles.assertSameBits(inMemory, cut);
    }

    @Test
    void shouldContinueInMemoryIfFilesAreImpossible() throws IOException {
        String[] settings = {"engine.kind=reference", "parallel.pipeline=1", "training.microbatch-size=1"};
        Path inMemory = train("memory", settings);
        Path file = Files.writeString(directory.resolve("file"), "no directory");
        Path run = directory.resolve("disk");
        Execution execution = Execution.train(run, Golden.named(Golden.TIED)
                .settings(with(settings, "offload.optimizer=disk", "offload.directory=" + file.resolve("below"))));
        assertEquals(0, execution.exitCode(), execution.errors());
        assertTrue(execution.errors().contains("Offloaded state of rank 0 (0.4 MiB) is in memory from now on, and"
                + " the run continues without its file in " + file.resolve("below") + ": Not a directory"),
                execution.errors());
        RunFiles.assertSameBits(inMemory, run);
    }

    @Test
    void shouldRefuseAnOptimizerWithoutElementsOfItsOwn() {
        Execution.train(directory.resolve("refused"), Golden.named(Golden.TIED).settings("offload.optimizer=disk",
                "training.optimizer.kind=muon")).requireRefused("offload.optimizer = disk needs adamw, or sgd with"
                        + " momentum, without error feedback, but found muon");
    }

    private Path train(String name, String... settings) throws IOException {
        Path run = directory.resolve(name);
        Execution.train(run, Golden.named(Golden.TIED).settings(settings)).requireDone();
        assertEquals(List.of(), openFiles());
        return run;
    }

    /** The open files of state; they have no name, but the system knows their old one. */
    private List<Path> openFiles() throws IOException {
        List<Path> open = new ArrayList<>();
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            for (Path file : files.toList()) {
                Path target;
                try {
                    target = Files.readSymbolicLink(file);
                } catch (NoSuchFileException _) {
                    continue; // closed since
                }
                if (target.toString().endsWith(".state (deleted)")) {
                    open.add(target);
                }
            }
        }
        return open;
    }

    private static String[] with(String[] settings, String... more) {
        List<String> all = new ArrayList<>(List.of(settings));
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }
}
