package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.troupe.engine.conformance.share.Dealt;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code training.gradient-exchange}: gradients that travel in bfloat16 between ranks with the same weights. */
@Tag("real")
@Dealt(5)
@Timeout(120)
class GradientExchangeTest {
    /**
     * Of the loss after {@link #STEPS} steps: a gradient is off by at most 2^-9 of each addend, at random, where clipping
     * and AdamW divide by the gradients' own size.
     */
    private static final double TOLERANCE = 5e-3;
    private static final int STEPS = 40;

    @TempDir
    private Path directory;

    private double[] losses(String... settings) {
        Path run = directory.resolve(String.join("", settings).replaceAll("\\W", "-"));
        List<String> all = new ArrayList<>(List.of("engine.kind=reference", "engine.threads=1", "parallel.pipeline=1",
                "parallel.data=2", "model.layers=2", "model.hidden=32", "model.heads=4", "model.sequence-length=32",
                "training.steps=" + STEPS, "training.global-batch-size=8", "training.microbatch-size=2",
                "training.learning-rate.peak=3e-3"));
        all.addAll(List.of(settings));
        Execution.train(run, all).requireDone();
        return RunFiles.metrics(run, "loss");
    }

    @Test
    void shouldLearnAsWithWholeGradientsToTheSameBitsEachTimeAndWithSharedState() {
        double[] whole = losses("training.gradient-exchange=float32");
        double[] rounded = losses("training.gradient-exchange=bfloat16");
        assertEquals(whole[0], rounded[0], "the first loss is of the same weights");
        assertNotEquals(whole[STEPS - 1], rounded[STEPS - 1], "gradients were not rounded");
        assertEquals(1, rounded[STEPS - 1] / whole[STEPS - 1], TOLERANCE);
        assertArrayEquals(rounded, losses("training.gradient-exchange=bfloat16", "training.zero=1"), "ZeRO 1");
        assertArrayEquals(rounded, losses("training.gradient-exchange=bfloat16", "parallel.pipeline=2"), "two stages");
    }
}
