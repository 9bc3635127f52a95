package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.conformance.share.Dealt;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs in bfloat16, against the naive engine, themselves, and float32. */
@Tag("real")
@Dealt(5)
@Timeout(120)
class MixedPrecisionTest {
    /** An activation on the edge between two numbers may become either, 2^-8 apart; a loss is the mean of many rows. */
    private static final double TOLERANCE = 1e-3;
    /** The change of a loss by the rounding of every activation. */
    private static final double OF_FLOAT32 = 1e-2;

    @TempDir
    private Path directory;

    @Test
    void shouldReachTheLossesOfTheNaiveEngineAndNearlyOfFloat32() {
        double[] naive = RunFiles.metrics(train("naive", "reference"), "loss");
        double[] losses = RunFiles.metrics(train("cpu", "cpu"), "loss");
        double[] single = RunFiles.metrics(train("single", "cpu", "training.precision=float32"), "loss");
        assertRelative(naive, losses, TOLERANCE);
        assertRelative(single, losses, OF_FLOAT32);
        assertFalse(Arrays.equals(single, losses), "nothing was rounded");
    }

    /** As the processor at hand multiplies; {@link NarrowMachineTest} holds it to AVX2. */
    @Test
    void shouldBeginTheDefaultRunNearFloat32AndWithoutAJump() {
        double[][] losses = new double[2][];
        for (int i = 0; i < 2; i++) {
            String precision = List.of("float32", "bfloat16").get(i);
            Path run = directory.resolve("default-" + precision);
            Execution.train(run, defaultRun(12, precision)).requireDone();
            losses[i] = RunFiles.metrics(run, "loss");
            for (int step = 1; step < 12; step++) {
                assertTrue(losses[i][step] < losses[i][step - 1], precision + " rises at step " + step);
            }
        }
        assertRelative(losses[0], losses[1], OF_FLOAT32);
        assertFalse(Arrays.equals(losses[0], losses[1]), "nothing was rounded");
    }

    /** The first steps of the run that has no configuration. */
    static List<String> defaultRun(int steps, String precision) {
        return List.of("training.steps=" + steps, "training.precision=" + precision, "engine.kind=cpu");
    }

    @Test
    void shouldGiveTheSameBitsAgainOnMoreThreadsAndUnderAnotherSplit() {
        Path one = train("one", "cpu", "engine.threads=1");
        RunFiles.assertSameBits(one, train("again", "cpu", "engine.threads=1"));
        RunFiles.assertSameBits(one, train("two", "cpu", "engine.threads=2"));
        RunFiles.assertSameBits(one, train("split", "cpu", "parallel.pipeline=2", "engine.threads=1"));
    }

    @Test
    void shouldContinueBitForBit() {
        Path whole = train("whole", "cpu");
        Path cut = train("cut", "cpu", "training.steps=2");
        Execution.resume(cut, "-s", "training.steps=3").requireDone();
        RunFiles.assertSameBits(whole, cut);
    }

    @Test
    void shouldAddUpOverTheRanksOfAGroup() {
        double[] alone = RunFiles.metrics(train("alone", "cpu"), "loss");
        Path shared = train("shared", "cpu", "parallel.pipeline=2", "parallel.tensor=2", "engine.threads=1");
        assertRelative(alone, RunFiles.metrics(shared, "loss"), TOLERANCE);
    }

    @Test
    void shouldExportFloat32() {
        String header = new String(RunFiles.exportedBytes(train("run", "cpu")), 0, 2000, StandardCharsets.ISO_8859_1);
        assertTrue(header.contains("\"F32\"") && !header.contains("\"BF16\""), header);
    }

    @Test
    void shouldGiveTheSameBitsWithALossScaledByAPowerOfTwo() {
        Path plain = train("plain", "cpu");
        Path scaled = train("scaled", "cpu", "training.loss-scale=1024", "parallel.pipeline=2");
        assertArrayEquals(RunFiles.metrics(plain, "loss"), RunFiles.metrics(scaled, "loss"));
        assertArrayEquals(RunFiles.exportedBytes(plain), RunFiles.exportedBytes(scaled));
    }

    @Test
    void shouldSkipAnOverflowAndContinueWithTheScaleItFound() {
        Path whole = train("whole", "cpu", "training.loss-scale=dynamic", "training.steps=4");
        Path cut = train("cut", "cpu", "training.loss-scale=dynamic", "training.steps=2");
        Execution.resume(cut, "-s", "training.steps=4").requireDone();
        RunFiles.assertSameBits(whole, cut);
        Path huge = directory.resolve("huge");
        List<String> settings = settings("cpu", "training.loss-scale=1e60", "training.steps=2");
        String output = Execution.train(huge, settings).requireDone().output();
        assertTrue(output.contains("step 0 is skipped: its gradients overflowed with a loss scale of 1.0E60"), output);
        double[] losses = RunFiles.metrics(huge, "loss");
        assertEquals(RunFiles.metrics(whole, "loss")[0], losses[0]);
        assertArrayEquals(new double[]{1e60, 1e60}, RunFiles.metrics(huge, "loss_scale"));
    }

    private static List<String> settings(String engine, String... more) {
        List<String> settings = new ArrayList<>(Golden.named(Golden.TIED).settings("engine.kind=" + engine,
                "training.steps=3", "training.precision=bfloat16"));
        settings.addAll(List.of(more));
        return settings;
    }

    private Path train(String name, String engine, String... more) {
        Path run = directory.resolve(name);
        Execution.train(run, settings(engine, more)).requireDone();
        return run;
    }

    private static void assertRelative(double[] expected, double[] found, double tolerance) {
        assertEquals(expected.length, found.length);
        for (int i = 0; i < expected.length; i++) {
            assertEquals(expected[i], found[i], tolerance * expected[i], "step " + i);
        }
    }
}
