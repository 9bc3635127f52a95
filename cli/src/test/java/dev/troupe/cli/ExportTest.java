package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code OUT/model} is the model that was trained. */
@Tag("real")
@Timeout(120)
class ExportTest {
    @TempDir
    private Path directory;

    /** With a rate of zero the loss of step 0 is that of the weights as they are; made of float64 nothing is rounded. */
    @ParameterizedTest
    @CsvSource({"gpt2-tied-adamw, float64, reference", "gpt2-untied-sgd, float64, reference",
            "gpt2-tied-adamw, float32, nd4j", "gpt2-untied-sgd, float32, nd4j"})
    void shouldReadBackWhatItExported(String name, String precision, String engine) {
        Golden golden = Golden.named(name);
        List<String> computed = List.of("engine.kind=" + engine, "training.precision=" + precision,
                "parallel.pipeline=2");
        // All steps train on the same sequences, so that the loss of one does not depend on its number.
        int wholeText = golden.expected().get("sequence_length").asInt() * golden.expected().get("global_batch_size")
                .asInt() + 1;
        Path text = firstTokens(golden, wholeText);
        List<String> longer = golden.settings("data.path=" + text, "training.steps=5");
        longer.addAll(computed);
        List<String> shorter = golden.settings("data.path=" + text, "training.steps=4");
        shorter.addAll(computed);
        Path whole = train("whole", longer);
        Path begun = train("begun", shorter);
        List<String> again = golden.settings("data.path=" + text, "training.steps=1", "training.learning-rate.peak=0",
                "model.from=" + begun.resolve("model"));
        again.addAll(computed);
        Path read = train("read", again);
        assertEquals(RunFiles.metrics(whole, "loss")[4], RunFiles.metrics(read, "loss")[0]);
    }

    @ParameterizedTest
    @CsvSource({"gpt2-tied-adamw", "gpt2-untied-sgd", "gpt2-uneven"})
    void shouldNameTensorsAsPublished(String name) throws IOException {
        Golden golden = Golden.named(name);
        Path run = train("run", golden.settings("engine.kind=reference", "parallel.pipeline=3", "training.steps=1"));
        Set<String> names = RunFiles.tensors(RunFiles.exported(run)).keySet();
        assertEquals(RunFiles.tensors(golden.model().resolve("model.safetensors")).keySet(), names);
        assertEquals(!golden.expected().get("tied").asBoolean(), names.contains("lm_head.weight"));
        String config = Files.readString(run.resolve("model").resolve("config.json"));
        for (String key : List.of("GPT2LMHeadModel", "n_layer", "n_embd", "n_head", "n_positions", "vocab_size",
                "tie_word_embeddings", "gelu_new")) {
            assertTrue(config.contains(key), config);
        }
    }

    /** The model of a checkpoint is that of a run that ends at its step, on any grid. */
    @ParameterizedTest
    @CsvSource({"float64, 1, 1, 1, 0", "float64, 2, 2, 1, 0", "float32, 2, 1, 2, 3"})
    void shouldExportAnyCheckpoint(String precision, int pipeline, int tensor, int data, int zero) throws IOException {
        Golden golden = Golden.named(Golden.TIED);
        List<String> grid = List.of("engine.kind=reference", "training.precision=" + precision,
                "parallel.pipeline=" + pipeline, "parallel.tensor=" + tensor, "parallel.data=" + data,
                "training.zero=" + zero, "training.microbatch-size=1", "training.checkpoint-every=1",
                "training.keep-checkpoints=0");
        List<String> settings = golden.settings("training.steps=3");
        settings.addAll(grid);
        Path run = train("run", settings);
        List<String> shorter = golden.settings("training.steps=1");
        shorter.addAll(grid);
        Path begun = train("begun", shorter);
        Path newest = directory.resolve("newest");
        Execution exported = export(run, newest).requireDone();
        assertTrue(exported.output().contains("the model after 3 steps"), exported.output());
        assertSameModel(run.resolve("model"), newest);
        Path early = directory.resolve("early");
        export(run, early, "--step", "1").requireDone();
        assertSameModel(begun.resolve("model"), early);
        Path named = directory.resolve("named");
        export(run.resolve("checkpoints/step-000001"), named).requireDone();
        assertSameModel(early, named);
        export(run, newest).requireRefused(newest + " is in use");
    }

    @Test
    void shouldNameACheckpointThatIsDamagedOrNotThere() throws IOException {
        Path run = train("run", Golden.named(Golden.TIED).settings("engine.kind=reference", "training.steps=2",
                "training.checkpoint-every=1"));
        Path out = directory.resolve("out");
        export(run, out, "--step", "5").requireRefused("no checkpoint after 5 steps", "after 1, 2");
        export(run.resolve("checkpoints/step-000001"), out, "--step", "1").requireRefused("is a checkpoint already");
        export(directory.resolve("gone"), out).requireRefused("there is no directory " + directory.resolve("gone"));
        Path part = run.resolve("checkpoints/step-000002/rank-000.safetensors");
        byte[] bytes = Files.readAllBytes(part);
        bytes[bytes.length - 1] ^= 1;
        Files.write(part, bytes);
        export(run, out, "--step", "2").requireRefused(part.getFileName().toString());
        assertTrue(Files.notExists(out));
        Execution passedOver = export(run, out).requireDone();
        assertTrue(passedOver.output().contains("Passed over a checkpoint: "), passedOver.output());
        assertTrue(passedOver.output().contains("the model after 1 steps"), passedOver.output());
    }

    private static Execution export(Path from, Path out, String... more) {
        List<String> arguments = new ArrayList<>(List.of("export", from.toString(), "--out", out.toString()));
        arguments.addAll(List.of(more));
        return Execution.of(arguments);
    }

    private static void assertSameModel(Path expected, Path found) throws IOException {
        for (String file : List.of("config.json", "model.safetensors")) {
            assertEquals(-1, Files.mismatch(expected.resolve(file), found.resolve(file)), file);
        }
    }

    private Path firstTokens(Golden golden, int count) {
        try {
            byte[] all = Files.readAllBytes(golden.data());
            return Files.write(directory.resolve("first.bin"), Arrays.copyOf(all, count * Short.BYTES));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private Path train(String name, List<String> settings) {
        Path run = directory.resolve(name);
        Execution.train(run, new ArrayList<>(settings)).requireDone();
        return run;
    }
}
