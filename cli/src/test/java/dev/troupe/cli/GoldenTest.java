package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code troupe train} against PyTorch: every schedule, pipelines of one to four ranks, layouts even and uneven, fewer
 * microbatches than ranks and more.
 */
@Tag("real")
@Timeout(120)
class GoldenTest {
    private static final double FLOAT64_TOLERANCE = 1e-9;
    private static final double FLOAT32_TOLERANCE = 1e-4;
    private static final String KEY_BIAS_OWNER = "attn.c_attn.bias";

    @TempDir
    private Path directory;

    @ParameterizedTest(name = "{0}: {1}, P={2} V={3}, {4}, microbatches of {5}")
    @CsvSource({
            // 4 blocks, 8 sequences a step
            "gpt2-tied-adamw, gpipe,            1, 1, uniform,             8",
            "gpt2-tied-adamw, gpipe,            2, 1, Ettt|tL,             1",
            "gpt2-tied-adamw, gpipe,            3, 1, parameters,          4",
            "gpt2-tied-adamw, gpipe,            4, 1, E|tt|tt|L,           2",
            "gpt2-tied-adamw, 1f1b,             1, 1, parameters,          2",
            "gpt2-tied-adamw, 1f1b,             2, 1, uniform,             8",
            "gpt2-tied-adamw, 1f1b,             3, 1, Et|ttt|L,            1",
            "gpt2-tied-adamw, 1f1b,             4, 1, parameters,          4",
            "gpt2-tied-adamw, interleaved-1f1b, 1, 2, uniform,             4",
            "gpt2-tied-adamw, interleaved-1f1b, 2, 2, E|t|ttt|L,           2",
            "gpt2-tied-adamw, interleaved-1f1b, 3, 2, uniform,             4",
            "gpt2-tied-adamw, interleaved-1f1b, 4, 1, uniform,             1",
            // 8 blocks, 8 sequences a step
            "gpt2-untied-sgd, gpipe,            1, 1, Et*8L,               2",
            "gpt2-untied-sgd, gpipe,            2, 1, parameters,          4",
            "gpt2-untied-sgd, gpipe,            3, 1, uniform,             8",
            "gpt2-untied-sgd, gpipe,            4, 1, Et|(ttt|)*2tL,       1",
            "gpt2-untied-sgd, 1f1b,             1, 1, uniform,             8",
            "gpt2-untied-sgd, 1f1b,             2, 1, Et|t*7L,             4",
            "gpt2-untied-sgd, 1f1b,             3, 1, parameters,          4",
            "gpt2-untied-sgd, 1f1b,             4, 1, uniform,             1",
            "gpt2-untied-sgd, interleaved-1f1b, 1, 2, Ettttttt|tL,         2",
            "gpt2-untied-sgd, interleaved-1f1b, 2, 2, uniform,             1",
            "gpt2-untied-sgd, interleaved-1f1b, 3, 2, parameters,          8",
            "gpt2-untied-sgd, interleaved-1f1b, 4, 2, E|(t|)*4tt|tt|L,     2",
            // 6 blocks, 12 sequences a step
            "gpt2-uneven,     gpipe,            1, 1, parameters,          4",
            "gpt2-uneven,     gpipe,            2, 1, E|t*6L,              3",
            "gpt2-uneven,     gpipe,            3, 1, uniform,             2",
            "gpt2-uneven,     gpipe,            4, 1, parameters,          6",
            "gpt2-uneven,     1f1b,             1, 1, uniform,             12",
            "gpt2-uneven,     1f1b,             2, 1, parameters,          3",
            "gpt2-uneven,     1f1b,             3, 1, Ettt|tt|tL,          6",
            "gpt2-uneven,     1f1b,             4, 1, E|ttt|ttt|L,         1",
            "gpt2-uneven,     interleaved-1f1b, 1, 2, parameters,          6",
            "gpt2-uneven,     interleaved-1f1b, 2, 2, Ett|t|t|ttL,         12",
            "gpt2-uneven,     interleaved-1f1b, 3, 2, Et|(t|)*4tL,         2",
            "gpt2-uneven,     interleaved-1f1b, 4, 2, uniform,             4"})
    void shouldTrainAsPyTorchDoes(String name, String schedule, int pipeline, int virtualStages, String layout,
            int microbatchSize) {
        Golden golden = Golden.named(name);
        List<String> settings = golden.settings("parallel.schedule=" + schedule, "parallel.pipeline=" + pipeline,
                "parallel.virtual-stages=" + virtualStages, "parallel.layout=" + layout,
                "training.microbatch-size=" + microbatchSize);
        assertReproduces(golden, settings, "reference", "float64", FLOAT64_TOLERANCE);
        assertReproduces(golden, settings, "nd4j", "float32", FLOAT32_TOLERANCE);
    }

    private void assertReproduces(Golden golden, List<String> settings, String engine, String precision,
            double tolerance) {
        Path run = directory.resolve(engine);
        List<String> complete = new ArrayList<>(settings);
        complete.addAll(List.of("engine.kind=" + engine, "training.precision=" + precision));
        Execution.train(run, complete, "--save-gradients", "0").requireDone();
        assertRelative(golden.losses(), RunFiles.metrics(run, "loss"), tolerance, engine + ": loss of step ");
        assertRelative(golden.norms(), RunFiles.metrics(run, "gradient_norm"), tolerance, engine + ": norm of step ");
        Map<String, double[]> gradients = RunFiles.tensors(run.resolve("gradients-step-0.safetensors"));
        assertClose(RunFiles.tensors(golden.firstGradients()), gradients, tolerance, engine + ": gradient ");
        Map<String, double[]> weights = RunFiles.tensors(RunFiles.exported(run));
        if (precision.equals("float64")) {
            assertClose(RunFiles.tensors(golden.finalWeights()), weights, tolerance, engine + ": weights ");
        } else {
            assertCloseAsAWhole(RunFiles.tensors(golden.finalWeights()), weights, tolerance, engine + ": weights ");
        }
    }

    private static void assertRelative(double[] expected, double[] actual, double tolerance, String what) {
        assertEquals(expected.length, actual.length, what);
        for (int i = 0; i < expected.length; i++) {
            assertEquals(expected[i], actual[i], tolerance * expected[i], what + i);
        }
    }

    /**
     * Each element within the tolerance, of the tensor's largest, and the rounding of the file, which stores float32 of
     * what PyTorch had in float64; nothing missing, nothing more.
     */
    private static void assertClose(Map<String, double[]> expected, Map<String, double[]> actual, double tolerance,
            String what) {
        assertEquals(expected.keySet(), actual.keySet(), what);
        actual.forEach((name, values) -> {
            double[] wanted = expected.get(name);
            assertEquals(wanted.length, values.length, what + name);
            double largest = Math.max(1e-3, Arrays.stream(wanted).map(Math::abs).max().orElseThrow());
            for (int i = 0; i < values.length; i++) {
                double allowed = Math.ulp((float) wanted[i]) / 2 + tolerance * largest;
                assertEquals(wanted[i], values[i], allowed, what + name + "[" + i + "]");
            }
        });
    }

    /**
     * Each tensor within the tolerance, as the norm of the difference over the norm. Adam divides a gradient by its own
     * size, so that single elements whose gradient is no larger than the rounding noise of float32 move by noise; the
     * key bias, whose gradient is zero in exact arithmetic, does so as a whole and is left out.
     */
    private static void assertCloseAsAWhole(Map<String, double[]> expected, Map<String, double[]> actual,
            double tolerance, String what) {
        assertEquals(expected.keySet(), actual.keySet(), what);
        actual.forEach((name, values) -> {
            double[] wanted = expected.get(name);
            assertEquals(wanted.length, values.length, what + name);
            double difference = 0;
            double size = 0;
            for (int i = 0; i < values.length; i++) {
                boolean isKeyBias = name.endsWith(KEY_BIAS_OWNER) && i / (values.length / 3) == 1;
                if (!isKeyBias) {
                    difference += (values[i] - wanted[i]) * (values[i] - wanted[i]);
                    size += wanted[i] * wanted[i];
                }
            }
            assertEquals(0, Math.sqrt(difference / size), tolerance, what + name);
        });
    }
}
