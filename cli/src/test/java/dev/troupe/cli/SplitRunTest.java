package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.conformance.share.Dealt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Runs with products of split floats, at sizes that are split, against the naive engine. */
@Tag("real")
@Dealt(4)
@Timeout(120)
@EnabledOnOs(value = OS.LINUX, architectures = "amd64")
class SplitRunTest {
    private static final String KEY = "engine.float32-products=";
    private static final List<String> SETTINGS = List.of("model.layers=2", "model.hidden=128", "model.heads=2",
            "model.sequence-length=64", "training.microbatch-size=2", "training.global-batch-size=4",
            "training.validate-every=0", "training.checkpoint-every=0", "transport.timeout=20s", "engine.threads=1");

    @TempDir
    private Path directory;

    @Test
    void shouldReachTheLossesOfTheNaiveEngine() {
        double[] naive = losses(train("naive", "engine.kind=reference", "training.steps=4", "parallel.pipeline=1"));
        double[] six = losses(train("six", KEY + "bf16x6", "training.steps=4", "parallel.pipeline=1"));
        double[] three = losses(train("three", KEY + "bf16x3", "training.steps=4", "parallel.pipeline=1"));
        for (int step = 0; step < naive.length; step++) {
            assertEquals(naive[step], six[step], 2e-5 * naive[step]);
            assertEquals(naive[step], three[step], 1e-4 * naive[step]);
        }
    }

    @Test
    void shouldHaveTheSameBitsOnTwoRanksAndAfterAResume() throws IOException {
        Path whole = train("whole", KEY + "bf16x6", "training.steps=3", "parallel.pipeline=1");
        Path ranks = train("ranks", KEY + "bf16x6", "training.steps=3", "parallel.pipeline=2");
        assertEquals(RunFiles.results(whole), RunFiles.results(ranks));
        Path cut = train("cut", KEY + "bf16x6", "training.steps=2", "parallel.pipeline=1");
        String output = Execution.of(List.of("train", "--resume", cut.toString(), "-s", "training.steps=3"))
                .requireDone().output();
        assertTrue(output.contains("Matrix products of float32 by bf16x6 (engine.float32-products)"), output);
        String config = Files.readString(cut.resolve("config.conf"));
        assertTrue(config.matches("(?s).*float32-products\"?\\s*[=:]\\s*\"?bf16x6.*"), config);
        assertEquals(RunFiles.results(whole), RunFiles.results(cut));
    }

    private static double[] losses(Path run) {
        return RunFiles.metrics(run, "loss");
    }

    private Path train(String name, String... more) {
        List<String> settings = new ArrayList<>(SETTINGS);
        if (List.of(more).stream().noneMatch(setting -> setting.startsWith("engine.kind"))) {
            settings.add("engine.kind=cpu");
        }
        settings.addAll(List.of(more));
        Path run = directory.resolve(name);
        Execution.train(run, settings).requireDone();
        return run;
    }
}
