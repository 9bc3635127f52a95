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
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code OUT/model} holds is the model that was trained. */
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

    private Path firstTokens(Golden golden, int count) {
        try {
            byte[] all = Files.readAllBytes(golden.tokens());
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
