package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The libraries of a run's products are chosen once, and stay with it. */
@Tag("real")
@Timeout(120)
@EnabledOnOs(value = OS.LINUX, architectures = "amd64")
class ProductsTest {
    private static final String STEPS = "training.steps=";

    @TempDir
    private Path directory;

    @Test
    void shouldContinueWithTheLibrariesThatTheRunBeganWith() throws IOException {
        Golden golden = Golden.named(Golden.TIED);
        Path whole = train("whole", golden.settings("engine.kind=cpu", "engine.products=openblas", STEPS + 3));
        Path cut = train("cut", golden.settings("engine.kind=cpu", "engine.products=openblas", STEPS + 2));
        assertEquals("openblas", products(cut));
        Execution.of(List.of("train", "--resume", cut.toString(), "-s", "engine.products=auto", "-s", STEPS + 3))
                .requireDone();
        assertEquals("openblas", products(cut));
        assertEquals(RunFiles.results(whole), RunFiles.results(cut));
    }

    @Test
    void shouldWriteDownWhatAutoTakes() throws IOException {
        Golden golden = Golden.named(Golden.TIED);
        assertEquals("onednn", products(train("cpu", golden.settings("engine.kind=cpu", STEPS + 1))));
        assertEquals("onednn", products(train("other", golden.settings("engine.kind=cpu", "engine.products=cublaslt",
                STEPS + 1))), "cublaslt is another engine's");
        assertEquals("auto", products(train("reference", golden.settings("engine.kind=reference", STEPS + 1))));
    }

    @Test
    void shouldRefuseAWrongPathInASentence() {
        Execution refused = Execution.train(directory.resolve("run"), Golden.named(Golden.TIED)
                .settings("engine.kind=cpu", "engine.products=/nowhere/libblas.so"));
        refused.requireRefused(
                "engine.products = /nowhere/libblas.so: the BLAS /nowhere/libblas.so is missing, or not a"
                        + " file; set engine.products = onednn, or correct the path");
        assertTrue(Files.notExists(directory.resolve("run")));
    }

    private Path train(String name, List<String> settings) {
        Path run = directory.resolve(name);
        Execution.train(run, settings).requireDone();
        return run;
    }

    private static String products(Path run) throws IOException {
        return Files.readAllLines(run.resolve("config.conf")).stream().map(String::strip)
                .filter(line -> line.startsWith("products")).findFirst().orElseThrow().replaceAll("products = |\"", "");
    }
}
