package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A run that cannot be resumed: one sentence, exit code 2, nothing written. */
@Tag("real")
@Timeout(60)
class ResumeRefusalTest {
    @TempDir
    private Path directory;

    @Test
    void shouldRefuseToResumeFromADirectoryWithoutARun() throws IOException {
        Path nowhere = directory.resolve("nowhere");
        resumed(nowhere).requireRefused(nowhere + "");
        Path empty = Files.createDirectory(directory.resolve("empty"));
        resumed(empty).requireRefused(empty + "", "config.conf");
        Files.writeString(empty.resolve("config.conf"), "troupe {}");
        resumed(empty).requireRefused("no checkpoint", empty + "");
        assertEquals(List.of("config.conf"), names(empty));
    }

    @Test
    void shouldRefuseADamagedCheckpoint() throws IOException {
        Golden golden = Golden.named(Golden.TIED);
        Path run = directory.resolve("run");
        Execution.train(run, golden.settings("engine.kind=reference", "training.steps=1", "parallel.pipeline=2"))
                .requireDone();
        Path checkpoint = run.resolve("checkpoints").resolve("step-000001");
        Path part = checkpoint.resolve("rank-001.safetensors");
        byte[] sound = Files.readAllBytes(part);
        byte[] damaged = sound.clone();
        damaged[sound.length - 1] ^= 1;
        Files.write(part, damaged);
        resumed(checkpoint).requireRefused(part + " is damaged", "resume from another checkpoint");
        resumed(run).requireRefused("no checkpoint in " + run + " is whole: " + part + " is damaged");
        Files.delete(part);
        resumed(run).requireRefused(part + " is missing");
        Files.write(part, sound);
        Files.writeString(checkpoint.resolve("manifest.json"), "{");
        resumed(run).requireRefused("manifest.json is damaged");
    }

    @Test
    void shouldRefuseToResumeAPastStep() {
        Golden golden = Golden.named(Golden.TIED);
        Path run = directory.resolve("run");
        Execution.train(run, golden.settings("engine.kind=reference", "training.steps=3")).requireDone();
        resumed(run, "-s", "training.steps=2").requireRefused("3 steps", "training.steps = 2");
        resumed(run, "-s", "training.optimizer.kind=sgd", "-s", "training.steps=4", "-s", "model.layers=3")
                .requireRefused("model.layers = 3");
    }

    private static Execution resumed(Path run, String... more) {
        List<String> arguments = new ArrayList<>(List.of("train", "--resume", run.toString()));
        arguments.addAll(List.of(more));
        return Execution.of(arguments);
    }

    private static List<String> names(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.map(entry -> entry.getFileName().toString()).toList();
        }
    }
}
