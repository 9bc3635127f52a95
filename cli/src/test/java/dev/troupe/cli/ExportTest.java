package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.troupe.engine.Bfloat16;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.tokenizer.Tokenizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code OUT/model} is the model that was trained. */
@Tag("real")
@Dealt(5)
@Timeout(120)
class ExportTest {
    @TempDir
    private Path directory;

    /** With a rate of zero the loss of step 0 is the loss of the first weights; weights of float64 are not rounded. */
    @ParameterizedTest
    @CsvSource({"gpt2-tied-adamw, float64, reference", "gpt2-untied-sgd, float32, nd4j"})
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

    @Tag("long")
    @ParameterizedTest
    @CsvSource({"gpt2-untied-sgd, float64, reference", "gpt2-tied-adamw, float32, nd4j"})
    void shouldReadBackWhatItExportedOfTheOtherModel(String name, String precision, String engine) {
        shouldReadBackWhatItExported(name, precision, engine);
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

    /** The model of a checkpoint is the model of a run that ends at its step, on any grid. */
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

    @Test
    void shouldRoundToBfloat16AndDivideIntoShards() throws IOException {
        Path run = train("run", Golden.named(Golden.UNTIED).settings("engine.kind=reference", "training.steps=1"));
        Path out = directory.resolve("out");
        export(run, out, "--precision", "bfloat16", "--shard-size", "30 KB").requireDone();
        List<String> names = RunFiles.names(out);
        assertTrue(names.contains("model.safetensors.index.json") && !names.contains("model.safetensors"), "" + names);
        Map<String, double[]> shards = new TreeMap<>();
        for (String name : names) {
            if (name.endsWith(".safetensors")) {
                assertTrue(Files.size(out.resolve(name)) < 32_000, name);
                shards.putAll(RunFiles.tensors(out.resolve(name)));
            }
        }
        Map<String, double[]> whole = RunFiles.tensors(RunFiles.exported(run));
        assertEquals(whole.keySet(), shards.keySet());
        whole.forEach((name, values) -> assertArrayEquals(Arrays.stream(values)
                .map(value -> Bfloat16.toFloat(Bfloat16.of((float) value))).toArray(), shards.get(name), name));
        train("again", Golden.named(Golden.UNTIED).settings("engine.kind=reference", "training.steps=1",
                "model.from=" + out));
    }

    /** The files of the source are in the run's directory from its beginning, so that the source may go. */
    @Test
    void shouldPublishTheTokenizerOfTheRun() throws Exception {
        Path source = Files.createDirectory(directory.resolve("source"));
        SmallModel.write(source, "llama", "llama3", Map.of("key-value-heads", 2));
        Files.writeString(source.resolve("chat_template.jinja"), "{{ messages }}");
        Files.writeString(source.resolve("generation_config.json"), "{\"eos_token_id\": 889}");
        Files.writeString(source.resolve("modeling_own.py"), "print(1)");
        Path text = Files.writeString(directory.resolve("my.txt"), "To be, or not to be, that is the question. "
                .repeat(40));
        List<String> settings = List.of("data.path=" + text, "data.validation-path=" + text, "data.cache=none",
                "model.sequence-length=16", "training.global-batch-size=4", "training.microbatch-size=2",
                "parallel.pipeline=2", "engine.kind=reference", "engine.threads=1");
        List<String> first = new ArrayList<>(settings);
        first.addAll(List.of("model.from=" + source, "training.steps=2", "training.validate-every=2"));
        Path run = train("run", first);
        List<String> ids = Execution.of(List.of("tokenize", "--tokenizer", source.toString(), text.toString()))
                .requireDone().output().lines().toList();
        for (String name : RunFiles.names(source)) {
            Files.delete(source.resolve(name));
        }
        Files.delete(source);
        Path out = directory.resolve("out");
        Execution exported = export(run, out).requireDone();
        List<String> published = List.of("chat_template.jinja", "config.json", "generation_config.json",
                "model.safetensors", "tokenizer.json", "tokenizer_config.json");
        assertEquals(published, RunFiles.names(out));
        assertEquals(published, RunFiles.names(run.resolve("model")));
        assertFalse(exported.output().contains("no files of a tokenizer"), exported.output());
        assertEquals(ids, Execution.of(List.of("tokenize", "--tokenizer", out.toString(), text.toString()))
                .requireDone().output().lines().toList());
        List<String> second = new ArrayList<>(settings);
        second.addAll(List.of("model.from=" + out, "training.steps=1", "training.validate-every=1",
                "training.learning-rate.peak=0"));
        assertEquals(validationLoss(run), validationLoss(train("read", second)));

        Path gguf = directory.resolve("gguf");
        export(run, gguf, "--format", "gguf", "--type", "bf16").requireDone();
        assertEquals(List.of("model.gguf"), RunFiles.names(gguf));
        String prompt = "O, that this too";
        assertEquals(Arrays.stream(Tokenizer.named(out.toString()).encode(prompt)).boxed().toList(),
                LlamaCpp.write(gguf.resolve("model.gguf"), prompt, 4).ids());
        export(run, gguf, "--format", "gguf").requireRefused(gguf + " is in use");

        for (String name : RunFiles.names(run.resolve("tokenizer"))) {
            Files.delete(run.resolve("tokenizer").resolve(name));
        }
        Path bare = directory.resolve("bare");
        assertTrue(export(run, bare).requireDone().output().contains("The model has no tokenizer files next to it: "
                + source + ", from which the run began, is gone."));
        assertEquals(List.of("config.json", "model.safetensors"), RunFiles.names(bare));
        export(run, directory.resolve("none"), "--format", "gguf").requireRefused("a GGUF file needs the tokenizer of"
                + " the model, but " + source + ", from which the run began, is gone: take --format huggingface");
    }

    private static double validationLoss(Path run) throws IOException {
        return new ObjectMapper().readTree(RunFiles.validations(run).getLast()).get("validation_loss").asDouble();
    }

    /** A run of adapters is published as it ends, or with W + s B A for W. */
    @Test
    void shouldMergeAdaptersOnRequest() throws IOException {
        Golden golden = Golden.named("llama-lora");
        Path run = train("run", golden.settings("engine.kind=reference", "training.steps=2"));
        Path adapters = directory.resolve("adapters");
        assertTrue(export(run, adapters).requireDone().output().contains("the adapters after 2 steps"));
        for (String name : RunFiles.names(run.resolve("model"))) {
            assertEquals(-1, Files.mismatch(run.resolve("model").resolve(name), adapters.resolve(name)), name);
        }
        Path merged = directory.resolve("merged");
        export(run, merged, "--merge").requireDone();
        Map<String, double[]> base = RunFiles.tensors(golden.model().resolve("model.safetensors"));
        Map<String, double[]> trained = RunFiles.tensors(RunFiles.exportedAdapter(run));
        JsonNode config = new ObjectMapper().readTree(run.resolve("model/adapter_config.json").toFile());
        int rank = config.get("r").asInt();
        double scale = config.get("lora_alpha").asDouble() / rank;
        int changed = 0;
        for (Map.Entry<String, double[]> tensor : RunFiles.tensors(merged.resolve("model.safetensors")).entrySet()) {
            double[] expected = base.remove(tensor.getKey());
            String prefix = "base_model.model." + tensor.getKey().replaceFirst("\\.weight$", "") + ".lora_";
            double[] a = trained.get(prefix + "A.weight");
            double[] b = trained.get(prefix + "B.weight");
            if (a != null) {
                changed++;
                int columns = a.length / rank;
                for (int i = 0; i < expected.length; i++) {
                    for (int r = 0; r < rank; r++) {
                        expected[i] += scale * b[i / columns * rank + r] * a[r * columns + i % columns];
                    }
                }
            }
            assertArrayEquals(expected, tensor.getValue(), 1e-7, tensor.getKey());
        }
        assertEquals(trained.size(), 2 * changed);
        assertEquals(Set.of(), base.keySet());
        Path none = directory.resolve("none");
        export(run, none, "--precision", "bfloat16").requireRefused("add --merge");
        export(run, none, "--format", "gguf").requireRefused("a GGUF file needs the tokenizer");
        Path whole = train("whole", Golden.named(Golden.TIED).settings("engine.kind=reference", "training.steps=1"));
        export(whole, none, "--merge").requireRefused("--merge is for adapters");
    }

    @ParameterizedTest
    @CsvSource({"bytes, tokenizer.json", "gpt2, "})
    void shouldWriteTheTokenizerThatItCan(String tokenizer, String file) throws IOException {
        Path text = Files.writeString(directory.resolve("my.txt"), "To be, or not to be. ".repeat(40));
        Path run = directory.resolve("run");
        Execution trained = Execution.train(run, List.of("data.path=" + text, "data.tokenizer=" + tokenizer,
                "data.cache=none", "model.layers=2", "model.hidden=8", "model.heads=2", "model.sequence-length=16",
                "training.global-batch-size=2", "training.microbatch-size=2", "training.steps=1",
                "parallel.pipeline=1", "engine.kind=reference")).requireDone();
        assertEquals(file != null, RunFiles.names(run.resolve("model")).contains("tokenizer.json"));
        String sentence = "The model has no tokenizer files next to it: data.tokenizer = gpt2 has no files here; the files"
                + " of the published GPT-2 make the same tokens.";
        assertEquals(file == null, trained.output().contains(sentence), trained.output());
        Path out = directory.resolve("out");
        assertEquals(file == null, export(run, out).requireDone().output().contains(sentence));
        assertEquals(RunFiles.names(run.resolve("model")), RunFiles.names(out));
        Execution gguf = export(run, directory.resolve("gguf"), "--format", "gguf");
        if (file == null) {
            gguf.requireRefused("a GGUF file needs the tokenizer of the model, but data.tokenizer = gpt2");
        } else {
            gguf.requireDone();
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --format onnx                    | --format must be huggingface or gguf, but found "onnx"
            --format gguf --type q4          | --type must be one of bf16, f16, f32, q8_0, but found "q4"
            --type f16                       | --type is for --format gguf: leave one of them out
            --format gguf --precision float32 | --precision is for --format huggingface: leave one of them out
            --format gguf --shard-size 1GB   | --shard-size is for --format huggingface: leave one of them out
            --precision float16              | --precision must be one of bfloat16, float32, but found "float16"
            --shard-size 0                   | --shard-size must be a number of bytes above 0 such as 500MB or 2GiB
            --shard-size 5XB                 | but found "5XB"
            """)
    void shouldRefuseAFormThatItDoesNotKnow(String options, String sentence) {
        export(directory, directory.resolve("out"), options.split(" ")).requireRefused(sentence);
        assertTrue(Files.notExists(directory.resolve("out")));
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
