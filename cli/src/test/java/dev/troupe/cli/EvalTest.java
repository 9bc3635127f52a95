package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code troupe eval} against transformers and against a step of training. */
@Tag("real")
@Timeout(120)
class EvalTest {
    private static final Pattern LOSS = Pattern.compile("loss ([\\d.]+) ");

    @TempDir
    private Path directory;

    private static Execution eval(List<String> settings, String... more) {
        List<String> arguments = new ArrayList<>(List.of("eval"));
        settings.forEach(setting -> arguments.addAll(List.of("-s", setting)));
        arguments.addAll(List.of(more));
        return Execution.of(arguments);
    }

    private static double loss(Execution execution) {
        Matcher loss = LOSS.matcher(execution.requireDone().output());
        assertTrue(loss.find(), execution.output());
        return Double.parseDouble(loss.group(1));
    }

    /** The sequences of the first step are the first ones of the file. */
    @ParameterizedTest
    @CsvSource(textBlock = """
            llama-gqa,           reference, float64, 1e-9
            llama31-rope-scaled, cpu,       float32, 1e-5
            qwen2-bias-tied,     cpu,       float32, 1e-5
            qwen3-qknorm,        nd4j,      float32, 1e-5
            smollm-tied-mqa,     reference, float64, 1e-9
            llama-packed-masked, reference, float64, 1e-9
            mixtral,             cpu,       float32, 1e-5
            qwen3moe,            reference, float64, 1e-9
            qwen3moe-dense-between, nd4j,   float32, 1e-5
            glm4moe,             cpu,       float32, 1e-5
            """)
    void shouldMeasureTheLossAndTheLogitsOfTransformers(String name, String engine, String precision,
            double tolerance) {
        Golden golden = Golden.named(name);
        Path file = directory.resolve("logits.safetensors");
        int batch = golden.expected().get("global_batch_size").asInt();
        List<String> settings = golden.settings("engine.kind=" + engine, "training.precision=" + precision);
        double loss = loss(eval(settings, "--sequences", "" + batch, "--save-logits", file.toString()));
        assertEquals(golden.losses()[0], loss, tolerance * loss);
        golden.logits().ifPresent(expected -> assertLogits(expected, file, tolerance));
    }

    private static void assertLogits(Path expected, Path found, double tolerance) {
        double[] wanted = RunFiles.tensors(expected).get("logits");
        double[] logits = RunFiles.tensors(found).get("logits");
        assertEquals(wanted.length, logits.length);
        for (int i = 0; i < logits.length; i++) {
            assertEquals(wanted[i], logits[i], Math.ulp((float) wanted[i]) + tolerance, "logit " + i);
        }
    }

    @Test
    void shouldMeasureTheAdaptersOfACheckpoint() {
        Golden golden = Golden.named("llama-lora");
        List<String> settings = golden.settings("engine.kind=reference", "training.precision=float64",
                "training.microbatch-size=1", "training.steps=2");
        Path run = directory.resolve("run");
        Execution.train(run, settings).requireDone();
        double before = loss(eval(settings, "--sequences", "8"));
        double after = loss(Execution.of(List.of("eval", "--from", run.toString(), "--sequences", "8")));
        assertTrue(after < before, before + " became " + after);
    }

    @Test
    void shouldRefuseWhatCannotBeMeasured() {
        Golden golden = Golden.named("llama-gqa");
        eval(golden.settings(), "--sequences", "0").requireRefused("--sequences", "at least 1");
        eval(golden.settings(), "--save-logits", golden.directory().toString()).requireRefused("exists already");
        eval(golden.settings("engine.kind=emulated")).requireRefused("computes nothing");
        eval(golden.settings("data.path=" + directory.resolve("gone.jsonl"))).requireRefused("gone.jsonl");
    }
}
