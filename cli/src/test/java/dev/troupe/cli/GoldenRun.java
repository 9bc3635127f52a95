package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A run of a golden model that must have PyTorch's results: losses, norms, the gradients of the first step and the
 * weights after the last.
 *
 * @param golden the model and PyTorch's results
 * @param settings of the run, without the engine
 * @param directory the parent of a directory for each engine
 */
record GoldenRun(Golden golden, List<String> settings, Path directory) {
    private static final double FLOAT64_TOLERANCE = 1e-9;
    private static final double FLOAT32_TOLERANCE = 1e-4;
    private static final String KEY_BIAS = "self_attn.k_proj.bias";
    private static final String KEY_BIAS_OWNER = "attn.c_attn.bias";

    void requireFloat64(String engine) {
        require(engine, "float64", FLOAT64_TOLERANCE);
    }

    void requireFloat32(String engine) {
        require(engine, "float32", FLOAT32_TOLERANCE);
    }

    private void require(String engine, String precision, double tolerance) {
        Path run = directory.resolve(engine);
        List<String> complete = new ArrayList<>(settings);
        complete.addAll(List.of("engine.kind=" + engine, "training.precision=" + precision));
        Execution.train(run, complete, "--save-gradients", "0").requireDone();
        assertRelative(golden.losses(), RunFiles.metrics(run, "loss"), tolerance, engine + ": loss of step ");
        double[] norms = RunFiles.metrics(run, "gradient_norm");
        // The few tokens of an expert make gradients that Adam's division raises from the noise of float32: on the
        // reference engine, too, later norms and weights move more than losses do.
        boolean movesByNoise = golden.hasExperts() && precision.equals("float32");
        assertRelative(movesByNoise ? Arrays.copyOf(golden.norms(), 1) : golden.norms(),
                movesByNoise ? Arrays.copyOf(norms, 1) : norms, tolerance, engine + ": norm of step ");
        if (golden.auxiliaryLosses().length > 0) {
            assertRelative(golden.auxiliaryLosses(), RunFiles.metrics(run, "auxiliary_loss"), tolerance,
                    engine + ": auxiliary loss of step ");
        }
        Map<String, double[]> gradients = RunFiles.tensors(run.resolve("gradients-step-0.safetensors"));
        golden.firstGradients().ifPresent(
                file -> assertClose(ofModel(RunFiles.tensors(file)), gradients, tolerance, engine + ": gradient "));
        Map<String, double[]> weights = RunFiles.tensors(
                golden.adapter().isPresent() ? RunFiles.exportedAdapter(run) : RunFiles.exported(run));
        if (precision.equals("float64")) {
            assertClose(RunFiles.tensors(golden.finalWeights()), weights, tolerance, engine + ": weights ");
        } else if (!movesByNoise) {
            assertCloseAsAWhole(RunFiles.tensors(golden.finalWeights()), weights, tolerance, engine + ": weights ");
        }
    }

    /** The names that a run has for its parameters, in place of PEFT's. */
    private static Map<String, double[]> ofModel(Map<String, double[]> tensors) {
        Map<String, double[]> named = new TreeMap<>();
        tensors.forEach((name, values) -> named
                .put(name.replaceFirst("^base_model\\.model\\.(transformer\\.)?", ""), values));
        return named;
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
     * size, so that single elements with gradients within the rounding noise of float32 move by noise. The key bias does so
     * as a whole, since its gradient is zero in exact arithmetic, or nearly so with rotary positions; it is left out.
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
                boolean isKeyBias = name.endsWith(KEY_BIAS)
                        || name.endsWith(KEY_BIAS_OWNER) && i / (values.length / 3) == 1;
                if (!isKeyBias) {
                    difference += (values[i] - wanted[i]) * (values[i] - wanted[i]);
                    size += wanted[i] * wanted[i];
                }
            }
            assertEquals(0, Math.sqrt(difference / Math.max(size, Double.MIN_NORMAL)), tolerance, what + name);
        });
    }
}
