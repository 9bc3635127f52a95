package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.stop.ExitCode;
import dev.troupe.plan.directory.RunDirectory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A request that cannot be met: one sentence, exit code 2, nothing started and nothing written. */
@Tag("real")
@Timeout(60)
class RefusalTest {
    @TempDir
    private Path directory;
    private Path out;

    @BeforeEach
    void nameOutput() {
        out = directory.resolve("out");
    }

    @AfterEach
    void requireNothingWritten() {
        assertFalse(Files.exists(out), "a refused run has written to its directory");
    }

    /** Settings, separated by blanks, and parts of the sentence. */
    static Stream<Arguments> settings() {
        return Stream.of(
                refused("training.stepz=3", "training.stepz", "did you mean training.steps?"),
                refused("troupe.training.steps=3", "did you mean training.steps?"),
                refused("training.steps=many", "training.steps (-s): expected a whole number", "many"),
                refused("training.steps=0", "training.steps", "found 0"),
                refused("training.learning-rate.peak=-1", "training.learning-rate.peak", "found -1"),
                refused("model.tie-embeddings=perhaps", "expected true or false", "perhaps"),
                refused("training.steps", "key=value", "without '='", "-s training.steps=VALUE"),
                refused("=3", "key=value"),
                refused("training=3", "training", "a section"),
                refused("training.global-batch-size=10 training.microbatch-size=4", "global-batch-size", "8 and 12"),
                refused("model.hidden=100 model.heads=3", "model.heads", "divides model.hidden = 100"),
                refused("model.layers=4 parallel.pipeline=2 parallel.layout=Et|ttL", "4 blocks", "3 t"),
                refused("model.layers=4 parallel.pipeline=2 parallel.layout=Etttt|tL", "4 blocks", "5 t"),
                refused("model.layers=4 parallel.pipeline=3 parallel.layout=Ett|ttL", "expected 3 stages",
                        "found 2"),
                refused("model.layers=4 parallel.pipeline=2 parallel.layout=Ettxtt|L", "'x'"),
                refused("model.layers=2 parallel.pipeline=5", "2 blocks", "1 to 4 stages", "found 5"),
                refused("model.layers=2 parallel.pipeline=4 parallel.virtual-stages=2"
                        + " parallel.schedule=interleaved-1f1b", "1 to 4 stages", "found 8"),
                refused("parallel.schedule=1f2b", "1f2b", "1f1b", "gpipe", "interleaved-1f1b"),
                refused("model.layers=8 parallel.schedule=interleaved-1f1b parallel.virtual-stages=2"
                        + " training.global-batch-size=9 training.microbatch-size=1", "9 microbatches", "4 ranks",
                        "8 or 10"),
                refused("parallel.schedule=1f1b parallel.virtual-stages=2 model.layers=8", "2 virtual stages",
                        "interleaved-1f1b"),
                refused("engine.kind=abacus", "abacus", "reference", "nd4j"),
                refused("engine.kind=emulated engine.exact-rows=true", "the emulated engine has no exact rows",
                        "cpu or reference"),
                refused("training.precision=half", "training.precision", "float32", "bfloat16"),
                refused("engine.kind=nd4j training.precision=bfloat16", "nd4j", "BFLOAT16", "cpu or reference"),
                refused("training.zero=4", "training.zero", "3"),
                refused("parallel.tensor=8", "model.heads", "multiple of parallel.tensor = 8"),
                refused("parallel.data=3", "training.global-batch-size", "3 x 2 = 6", "12 and 18"),
                refused("parallel.data=3 parallel.expert=2 training.global-batch-size=12", "parallel.expert",
                        "a divisor of parallel.data = 3", "2"),
                refused("parallel.data=2 parallel.expert=2", "parallel.expert = 2", "gpt2 has none"),
                refused("parallel.data=2 parallel.expert=2 model.family=mixtral model.experts=5", "parallel.expert = 2",
                        "the 5 experts"),
                refused("parallel.invariant=[data] training.global-batch-size=24 parallel.data=3", "a power of two",
                        "12 microbatches of 2", "16 and 32"),
                refused("parallel.invariant=[data] parallel.data=2 parallel.expert=2 training.zero=2",
                        "[data, expert]"),
                refused("parallel.invariant=[data,expert] parallel.data=2 parallel.expert=2", "training.zero",
                        "2 or 3 with parallel.invariant and parallel.expert = 2, found 0"),
                refused("parallel.invariant=[data] parallel.data=2 training.gradient-exchange=bfloat16",
                        "training.gradient-exchange", "each rank rounds"),
                refused("parallel.invariant=[data] parallel.data=2 training.replicas.mode=diloco training.steps=100",
                        "training.replicas.mode", "none with parallel.invariant"),
                refused("parallel.invariant=[data] engine.kind=nd4j", "parallel.invariant", "engine.threads = 0"),
                refused("parallel.invariant=[data] parallel.schedule=pipedream-2bw", "parallel.invariant", "overlap"),
                refused("parallel.sequence=true", "parallel.sequence", "parallel.tensor = 1"),
                refused("model.sequence-length=2000000", "built-in corpus", "one sequence of 2000000"),
                refused("transport.term-length=3MiB", "transport.term-length", "power of two"),
                refused("transport.directory=/proc/troupe", "transport.directory", "/proc"),
                refused("model.hidden=8192", "GiB of memory", "model.hidden", "to give"),
                refused("model.hidden=65536 model.layers=64", "h.0.attention", "17,180,262,400 weights",
                        "parallel.tensor"),
                refused("training.microbatch-size=16384 training.global-batch-size=131072", "GiB of memory",
                        "training.recompute = full"),
                refused("name=../up", "name"));
    }

    private static Arguments refused(String settings, String... parts) {
        return Arguments.of(settings, List.of(parts));
    }

    @ParameterizedTest
    @MethodSource("settings")
    void shouldRefuseSettings(String settings, List<String> parts) {
        Execution execution = Execution.train(out, List.of(settings.split(" ")));
        if (settings.contains("layout")) {
            requireMarkedLayout(execution, parts);
        } else {
            execution.requireRefused(parts.toArray(String[]::new));
        }
    }

    /** A layout is shown with a mark under the place, so its sentence is followed by two lines. */
    private static void requireMarkedLayout(Execution execution, List<String> parts) {
        assertEquals(ExitCode.WRONG_REQUEST, execution.exitCode(), execution.errors());
        parts.forEach(part -> assertTrue(execution.errors().contains(part), execution.errors()));
        List<String> lines = execution.errors().lines().toList();
        assertEquals(3, lines.size(), execution.errors());
        assertTrue(lines.get(2).strip().equals("^"), execution.errors());
    }

    @Test
    void shouldReportAllErrorsAtOnce() {
        Execution execution = Execution.train(out, List.of("training.stepz=3", "model.heads=0"));
        assertEquals(ExitCode.WRONG_REQUEST, execution.exitCode());
        assertEquals(2, execution.errors().lines().count(), execution.errors());
        assertTrue(execution.errors().contains("training.stepz") && execution.errors().contains("model.heads"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"gone.conf", "."})
    void shouldRefuseAConfigurationThatIsNoFile(String name) {
        Path file = directory.resolve(name);
        Execution.train(out, List.of(), file.toString()).requireRefused(file.toString());
    }

    @Test
    void shouldNamePlaceAndKeyOfAFile() throws IOException {
        Path file = Files.writeString(directory.resolve("run.conf"), "troupe {\n  training.stepz = 3\n}\n");
        Execution.train(out, List.of(), file.toString()).requireRefused("run.conf:2", "training.stepz",
                "training.steps");
        Files.writeString(file, "troupe { training { ");
        Execution.train(out, List.of(), file.toString()).requireRefused("run.conf", "well-formed HOCON");
    }

    @ParameterizedTest
    @CsvSource({"train --no-such-option", "train one.conf two.conf", "train --save-gradients first", "''"})
    void shouldRefuseAnUnknownCommandWithTheUsage(String line) {
        Execution execution = Execution.of(line.isEmpty() ? List.of() : List.of(line.split(" ")));
        assertEquals(ExitCode.WRONG_REQUEST, execution.exitCode());
        assertTrue(execution.errors().contains("Usage: troupe"), execution.errors());
        assertFalse(execution.errors().contains("\tat "), execution.errors());
    }

    @Test
    void shouldKnowTheCommandThatWasMeant() {
        Execution execution = Execution.of(List.of("trian"));
        assertEquals(ExitCode.WRONG_REQUEST, execution.exitCode());
        assertTrue(execution.errors().contains("Did you mean: troupe "), execution.errors());
        assertTrue(execution.errors().contains("troupe train"), execution.errors());
    }

    @Test
    void shouldRefuseDataThatCannotBeRead() throws IOException {
        Path gone = directory.resolve("gone.txt");
        Execution.train(out, List.of("data.path=" + gone)).requireRefused(gone + "", "no such file");
        Execution.train(out, List.of("data.path=" + directory)).requireRefused(directory + "", "folder");
        Path empty = Files.createFile(directory.resolve("empty.txt"));
        Execution.train(out, List.of("data.path=" + empty)).requireRefused(empty + " is empty");
        Path emptyTokens = Files.createFile(directory.resolve("empty.bin"));
        Execution.train(out, List.of("data.path=" + emptyTokens, "model.vocabulary-size=10"))
                .requireRefused(emptyTokens + " is empty");
        Path latin = Files.write(directory.resolve("latin.txt"), "\nna\u00efve".getBytes(StandardCharsets.ISO_8859_1));
        Execution.train(out, List.of("data.path=" + latin)).requireRefused(latin + " must be UTF-8", "0xef", "line 2");
        Path brief = Files.writeString(directory.resolve("short.txt"), "short");
        Execution.train(out, List.of("data.path=" + brief)).requireRefused("5 tokens", "128");
        Path odd = Files.write(directory.resolve("odd.bin"), new byte[1001]);
        Execution.train(out, List.of("data.path=" + odd, "model.vocabulary-size=10")).requireRefused(odd + "", "1001");
    }

    @Test
    void shouldRefuseTokensBeyondTheVocabulary() throws IOException {
        Golden golden = Golden.named(Golden.TIED);
        byte[] tokens = Files.readAllBytes(golden.data());
        tokens[14] = 64;
        tokens[15] = 0;
        Path wrong = Files.write(directory.resolve("wrong.bin"), tokens);
        Execution.train(out, golden.settings("data.path=" + wrong)).requireRefused("token 7 is 64", "0 to 63");
        Execution.train(out, List.of("data.path=" + golden.data())).requireRefused("model.vocabulary-size", ".bin");
        Execution.train(out, List.of("data.path=" + golden.data(), "model.vocabulary-size=63"))
                .requireRefused("is 63", "0 to 62");
    }

    @Test
    void shouldRefuseDocumentsThatMakeNoRow() throws IOException {
        Map<String, String> refused = Map.of("{\"text\": \"ab\"}\n{\"text\": ", "line 2 is no JSON",
                "{\"text\": \"ab\"}\n{\"text\": \"abcdefghi\"}", "line 2 is a document of 9 tokens",
                "{\"documents\": [{\"ids\": [1, 2], \"counted\": [0, 0]}]}", "in which no target counts",
                "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}", "line 1 has messages");
        for (Map.Entry<String, String> entry : refused.entrySet()) {
            Path file = Files.writeString(directory.resolve("documents.jsonl"), entry.getKey());
            Execution.train(out, List.of("data.path=" + file, "model.sequence-length=8"))
                    .requireRefused(file + ": line ", entry.getValue());
        }
        Path parquet = Files.writeString(directory.resolve("documents.parquet"), "no table");
        Execution.train(out, List.of("data.path=" + parquet))
                .requireRefused(parquet + " is no Parquet file that can be read");
    }

    @Test
    void shouldRefuseNamesThatLeadToNoCorpus() throws IOException {
        Path glob = directory.resolve("*.txt");
        Execution.train(out, List.of("data.path=" + glob)).requireRefused("has the name " + glob);
        Path text = Files.writeString(directory.resolve("a.txt"), "text ".repeat(100));
        Golden golden = Golden.named(Golden.TIED);
        Execution.train(out, List.of("data.path=[\"" + text + "\", \"" + golden.data() + "\"]",
                "model.vocabulary-size=64")).requireRefused(text + " and " + golden.data(), "troupe tokenize");
        Execution.train(out, golden.settings("data.validation-path=" + text)).requireRefused(
                "both be text, tokens or documents",
                text + "");
        Path brief = Files.writeString(directory.resolve("short.txt"), "short");
        Execution.train(out, List.of("data.path=" + text, "data.validation-path=" + brief))
                .requireRefused(brief + " has 5 tokens");
    }

    @Test
    void shouldRefuseToTokenizeOver() throws IOException {
        Path text = Files.writeString(directory.resolve("a.txt"), "text");
        Path tokens = Files.writeString(directory.resolve("a.bin"), "tokens");
        tokenize("bytes", tokens, text).requireRefused(tokens + " exists already");
        assertEquals("tokens", Files.readString(tokens));
        tokenize("words", directory.resolve("b.bin"), text)
                .requireRefused("bytes, gpt2 or a directory with a tokenizer.json", "words");
        tokenize("gpt2", directory.resolve("b"), text).requireRefused("--out must end in .bin");
        tokenize("gpt2", directory.resolve("b.bin"), tokens).requireRefused(tokens + " holds tokens already");
        tokenize("gpt2", directory.resolve("b.bin"), directory.resolve("gone"))
                .requireRefused("gone: there is no such file");
    }

    private static Execution tokenize(String tokenizer, Path target, Path text) {
        return Execution.of(List.of("tokenize", "--tokenizer", tokenizer, "--out", target.toString(), text.toString()));
    }

    @Test
    void shouldRefuseAModelThatIsDamaged() throws IOException {
        Path model = copyModel(Golden.TIED);
        Path weights = model.resolve("model.safetensors");
        byte[] sound = Files.readAllBytes(weights);

        Files.write(weights, Arrays.copyOf(sound, sound.length - 1));
        refusedModel(model, weights + "", "bytes");
        Files.write(weights, Arrays.copyOf(sound, 100));
        refusedModel(model, "truncated");
        byte[] longer = sound.clone();
        longer[7] = 1;
        Files.write(weights, longer);
        refusedModel(model, "not a safetensors file");
        Files.write(weights, withHeader(sound, "\"h.0.ln_1.bias\"", "\"h.0.ln_1.none\""));
        refusedModel(model, "h.0.ln_1.bias");
        Files.write(weights, withHeader(sound, "\"shape\":[64,32]", "\"shape\":[32,64]"));
        refusedModel(model, "wte.weight", "[64 x 32]", "[32 x 64]");
        Files.write(weights, withHeader(sound, "\"data_offsets\":[0,", "\"data_offsets\":[8,"));
        refusedModel(model, weights + "");
        Files.delete(weights);
        refusedModel(model, "model.safetensors");
        Files.write(weights, sound);
        Files.delete(model.resolve("config.json"));
        refusedModel(model, "config.json");
        refusedModel(directory.resolve("nowhere"), "nowhere");
    }

    /** What a file holds is found before the run has a directory. */
    @ParameterizedTest
    @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY})
    void shouldRefuseWeightsThatAreNoNumbers(float wrong) throws IOException {
        Path model = copyModel(Golden.TIED);
        Path weights = model.resolve("model.safetensors");
        byte[] bytes = Files.readAllBytes(weights);
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putFloat(bytes.length - Float.BYTES, wrong);
        Files.write(weights, bytes);
        refusedModel(model, weights + ": tensor \"", "must hold finite numbers, but element", " is " + wrong);
    }

    private void refusedModel(Path model, String... parts) {
        Execution.train(out, Golden.named(Golden.TIED).settings("model.from=" + model)).requireRefused(parts);
    }

    /** The file with one place of its header replaced by the same number of characters. */
    private static byte[] withHeader(byte[] sound, String found, String replacement) {
        int headerBytes = Math.toIntExact(ByteBuffer.wrap(sound).order(ByteOrder.LITTLE_ENDIAN).getLong());
        String header = new String(sound, Long.BYTES, headerBytes, StandardCharsets.UTF_8);
        String tight = header.replace(": ", ":").replace(", ", ",");
        assertTrue(tight.contains(found), tight);
        byte[] changed = tight.replace(found, replacement).getBytes(StandardCharsets.UTF_8);
        ByteBuffer file = ByteBuffer.allocate(Long.BYTES + changed.length + sound.length - Long.BYTES - headerBytes)
                .order(ByteOrder.LITTLE_ENDIAN);
        file.putLong(changed.length).put(changed).put(sound, Long.BYTES + headerBytes,
                sound.length - Long.BYTES - headerBytes);
        return file.array();
    }

    @Test
    void shouldRefuseAConfigurationThatIsNotTheModels() {
        Execution.train(out, Golden.named(Golden.TIED).settings("model.layers=5", "model.hidden=64"))
                .requireRefused("model.layers = 5, but the model has 4", "model.hidden = 64, but the model has 32");
        Execution.train(out, Golden.named(Golden.TIED).settings("model.sequence-length=17"))
                .requireRefused("model.sequence-length = 17", "16");
    }

    @Test
    void shouldRefuseAnOutputDirectoryInUse() throws IOException {
        Path used = Files.createDirectory(directory.resolve("used"));
        Path file = Files.writeString(used.resolve("thesis.txt"), "mine");
        Execution.train(used, List.of()).requireRefused("output directory " + used + " is in use",
                "files that are of no run", "--out");
        assertEquals("mine", Files.readString(file));
        Execution.train(file, List.of()).requireRefused(file + "");
        Execution.train(Path.of("/proc/troupe"), List.of()).requireRefused("/proc", "--out");
    }

    @Test
    void shouldRefuseADirectoryThatAnotherRunHas() {
        Golden golden = Golden.named(Golden.TIED);
        Path run = directory.resolve("run");
        Execution.train(run, golden.settings("engine.kind=reference", "training.steps=1")).requireDone();
        List<String> results = RunFiles.results(run);
        try (var _ = RunDirectory.open(run)) {
            Execution.resume(run, "-s", "training.steps=2")
                    .requireRefused("another run writes to it");
        }
        assertEquals(results, RunFiles.results(run));
    }

    @Test
    void shouldRefuseATransportDirectoryInUse() throws IOException {
        Path used = Files.createDirectory(directory.resolve("transport"));
        Path file = Files.writeString(used.resolve("thesis.txt"), "mine");
        Execution.train(out, List.of("transport.directory=" + used)).requireRefused("transport.directory",
                "thesis.txt");
        assertEquals("mine", Files.readString(file));
        Execution.train(out, List.of("transport.directory=" + file)).requireRefused("transport.directory", "a file");
    }

    private Path copyModel(String name) throws IOException {
        Path model = Files.createDirectory(directory.resolve("model"));
        for (String file : List.of("config.json", "model.safetensors")) {
            Files.copy(Golden.named(name).model().resolve(file), model.resolve(file));
        }
        return model;
    }
}
