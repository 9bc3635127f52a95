package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.engine.conformance.share.Dealt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The training data of a run, their order, and its validation data. */
@Tag("real")
@Dealt(4)
@Timeout(120)
class DataTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"bytes", "gpt2"})
    void shouldTrainOnTokensAsOnTheirText(String tokenizer) throws IOException {
        Path folder = Files.createDirectory(directory.resolve("text"));
        Files.writeString(folder.resolve("1.txt"), "It was the best of times, it was the worst of times.\n".repeat(4));
        Files.writeString(folder.resolve("2.txt"), "Call me Ishmael. Some years ago, never mind how long.\n".repeat(4));
        Path tokens = directory.resolve("text.bin");
        Execution made = Execution.of(List.of("tokenize", "--tokenizer", tokenizer, "--out", tokens.toString(),
                folder.toString())).requireDone();
        String vocabulary = tokenizer.equals("bytes") ? "256" : "50257";
        assertTrue(made.output().contains(vocabulary), made.output());
        Path ofText = train("of-text", "data.path=" + folder.resolve("*.txt"), "data.tokenizer=" + tokenizer);
        Path ofTokens = train("of-tokens", "data.path=" + tokens, "model.vocabulary-size=" + vocabulary);
        assertEquals(RunFiles.results(ofText), RunFiles.results(ofTokens));
        Path again = train("again", "data.path=" + folder, "data.tokenizer=" + tokenizer);
        assertEquals(RunFiles.results(ofText), RunFiles.results(again));
        assertEquals(tokenizer.equals("bytes") ? 0 : 1, kept());
        Path without = train("without", "data.path=" + folder, "data.tokenizer=" + tokenizer, "data.cache=none");
        assertEquals(RunFiles.results(ofText), RunFiles.results(without));
    }

    private long kept() throws IOException {
        Path cache = directory.resolve("cache/tokens");
        if (!Files.exists(cache)) {
            return 0;
        }
        try (Stream<Path> all = Files.list(cache)) {
            return all.count();
        }
    }

    @Test
    void shouldReportThatTheCacheCannotBeWritten() throws IOException {
        Path text = Files.writeString(directory.resolve("text.txt"), "It was the best of times. ".repeat(9));
        Path file = Files.writeString(directory.resolve("no-folder"), "");
        String output = execute("run", List.of("data.path=" + text, "data.tokenizer=gpt2", "data.cache=" + file));
        assertEquals(1,
                output.lines().filter(line -> line.startsWith("Note: tokens cannot be kept in " + file)).count(),
                output);
    }

    /** The windows of an epoch of the data come in the same order on any grid, and after any number of resumes. */
    @Test
    void shouldGoThroughTheDataInEpochs() {
        List<String> one = golden("data.order=epochs", "training.steps=6");
        String output = execute("one", one);
        assertTrue(output.contains(" in epochs of 48 sequences, "), output);
        assertTrue(output.contains(" epochs of the data"), output);
        Path whole = directory.resolve("one");
        assertArrayEquals(new double[]{1 / 6.0, 2 / 6.0, 0.5, 4 / 6.0, 5 / 6.0, 1},
                RunFiles.metrics(whole, "data_epochs"), 1e-12);
        execute("grid", golden("data.order=epochs", "training.steps=6", "parallel.pipeline=2", "parallel.data=2",
                "parallel.tensor=2"));
        assertArrayEquals(RunFiles.metrics(whole, "loss"), RunFiles.metrics(directory.resolve("grid"), "loss"), 1e-9);
        execute("cut", golden("data.order=epochs", "training.steps=2"));
        Execution.resume(directory.resolve("cut"), "-s", "training.steps=6")
                .requireDone();
        assertEquals(RunFiles.results(whole), RunFiles.results(directory.resolve("cut")));
    }

    /** The losses of two orders differ from the first step on. */
    private List<String> golden(String... more) {
        return Golden.named(Golden.TIED).settings(Stream.concat(
                Stream.of("engine.kind=reference", "training.precision=float64", "training.microbatch-size=2"),
                Stream.of(more)).toArray(String[]::new));
    }

    @Test
    void shouldWriteTheValidationLossNextToTheSteps() throws IOException {
        Golden golden = Golden.named(Golden.TIED);
        String[] validated = {"data.validation-path=" + golden.data(), "training.validate-every=2",
                "training.validation-microbatches=3", "training.steps=4"};
        String output = execute("whole", golden(validated));
        assertTrue(output.contains(" for validation, on 3 microbatches every 2 steps"), output);
        assertTrue(output.contains("after 2 steps: validation loss "), output);
        List<String> whole = RunFiles.validations(directory.resolve("whole"));
        assertEquals(List.of("{\"steps_done\":2,\"validation_loss\":", "{\"steps_done\":4,\"validation_loss\":"),
                whole.stream().map(line -> line.substring(0, line.lastIndexOf(':') + 1)).toList());
        execute("cut", golden("data.validation-path=" + golden.data(), "training.validate-every=2",
                "training.validation-microbatches=3", "training.steps=2"));
        Execution.resume(directory.resolve("cut"), "-s", "training.steps=4")
                .requireDone();
        assertEquals(whole, RunFiles.validations(directory.resolve("cut")));
        // More of them are another mean.
        validated[2] = "training.validation-microbatches=5";
        execute("more", golden(validated));
        assertTrue(RunFiles.validations(directory.resolve("more")).stream().noneMatch(whole::contains));
    }

    @Test
    void shouldExplainHowToValidateIfNoDataAreLeftForIt() {
        String output = execute("run", golden("training.steps=1"));
        assertTrue(output.contains(", none for validation: data.validation-fraction=0.05 or data.validation-path"),
                output);
    }

    private Path train(String name, String... settings) {
        List<String> all = new ArrayList<>(List.of("model.layers=2", "model.hidden=8", "model.heads=2",
                "model.sequence-length=8", "parallel.pipeline=2", "training.steps=2", "training.global-batch-size=4",
                "training.microbatch-size=1", "engine.kind=reference", "data.cache=" + directory.resolve("cache")));
        all.addAll(List.of(settings));
        execute(name, all);
        return directory.resolve(name);
    }

    private String execute(String name, List<String> settings) {
        List<String> all = new ArrayList<>(settings);
        if (settings.stream().noneMatch(setting -> setting.startsWith("data.path=") && setting.endsWith(".bin"))) {
            all.addAll(0, List.of("model.layers=2", "model.hidden=8", "model.heads=2", "model.sequence-length=8",
                    "parallel.pipeline=2", "training.steps=2"));
        }
        return Execution.train(directory.resolve(name), all).requireDone().output();
    }
}
