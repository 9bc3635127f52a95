package dev.troupe.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The steps of a learning rate that a configuration leaves to its defaults. */
@Tag("plan")
class LearningRateDefaultsTest {
    @TempDir
    private Path folder;

    @Test
    void shouldLetARunEndInsideItsWarmUp() {
        RunSpec run = RunSpecReader.read(Optional.empty(), List.of("training.steps=5",
                "training.learning-rate.schedule=cosine", "training.learning-rate.warmup-steps=20"));
        assertEquals(5, run.training().update().learningRate().decaySteps());
        assertEquals(20, run.training().update().learningRate().warmupSteps());
    }

    @Test
    void shouldWarmUpToTheDefaultPeakAlone() {
        assertEquals(10, warmupSteps());
        assertEquals(10, warmupSteps("training.steps=3"));
        assertEquals(10, warmupSteps("training.learning-rate.schedule=cosine"));
        assertEquals(0, warmupSteps("training.learning-rate.peak=1e-3"));
        assertEquals(7, warmupSteps("training.learning-rate.peak=1e-3", "training.learning-rate.warmup-steps=7"));
        assertEquals(0, warmupSteps("training.learning-rate.warmup-steps=0"));
    }

    @Test
    void shouldShortenTheDefaultWarmUpToADecay() {
        assertEquals(5, warmupSteps("training.learning-rate.schedule=cosine", "training.learning-rate.decay-steps=5"));
        assertEquals(4, warmupSteps("training.learning-rate.schedule=wsd", "training.learning-rate.stable-steps=4",
                "training.learning-rate.decay-steps=8"));
    }

    /** The configuration file of a run has every key, so that a resumed run keeps its warm-up. */
    @Test
    void shouldResumeWithTheWarmUpOfTheRun() throws IOException {
        for (String setting : List.of("training.learning-rate.warmup-steps=0", "training.learning-rate.peak=2e-3",
                "training.steps=300")) {
            RunSpec begun = RunSpecReader.read(Optional.empty(), List.of(setting));
            RunSpec resumed = RunSpecReader.read(
                    Optional.of(Files.writeString(folder.resolve("run.conf"), begun.toHocon())),
                    List.of("training.steps=400", "training.learning-rate.peak=5e-4"));
            assertEquals(begun.training().update().learningRate().warmupSteps(),
                    resumed.training().update().learningRate().warmupSteps(), setting);
        }
    }

    private static int warmupSteps(String... settings) {
        return RunSpecReader.read(Optional.empty(), List.of(settings)).training().update().learningRate().warmupSteps();
    }

    @Test
    void shouldDecayInTheLastTenthUnlessAsked() {
        assertEquals(270, stableSteps());
        assertEquals(290, stableSteps("training.learning-rate.warmup-steps=290"));
        assertEquals(90, stableSteps("training.learning-rate.decay-steps=100"));
        assertEquals(1_000_000, stableSteps("training.learning-rate.stable-steps=1000000"));
    }

    private static int stableSteps(String... more) {
        List<String> settings = new ArrayList<>(List.of("training.learning-rate.schedule=wsd"));
        settings.addAll(List.of(more));
        return RunSpecReader.read(Optional.empty(), settings).training().update().learningRate().stableSteps();
    }
}
