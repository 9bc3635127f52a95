package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.engine.conformance.share.Dealt;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A tokenizer's directory wherever a tokenizer can be named. */
@Tag("real")
@Dealt(2)
@Timeout(120)
class TokenizeTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String TEXT = "It was the best of times, it was the worst of times.\n".repeat(6);

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource({"gpt2,ids", "gpt2,with_special", "llama3,ids", "llama3,with_special", "qwen,ids", "smollm,ids"})
    void shouldPrintAListOfIdsForEachJsonString(String form, String wanted) throws IOException {
        JsonNode rows = JSON.readTree(tokenizer(form).resolve("expected.json").toFile()).get("rows");
        List<String> lines = new ArrayList<>();
        rows.forEach(row -> lines.add(row.get("text").toString()));
        Path strings = Files.write(directory.resolve("strings.jsonl"), lines);
        List<String> arguments = new ArrayList<>(List.of("tokenize", "--tokenizer", tokenizer(form).toString(),
                "--json-strings", strings.toString()));
        if (wanted.equals("with_special")) {
            arguments.add("--special-tokens");
        }
        List<String> printed = Execution.of(arguments).requireDone().output().lines().toList();
        assertEquals(rows.size(), printed.size());
        for (int row = 0; row < rows.size(); row++) {
            assertEquals(rows.get(row).get(wanted), JSON.readTree(printed.get(row)), lines.get(row));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"llama3", "qwen", "smollm"})
    void shouldPrintAListOfIdsForEachChat(String form) throws IOException {
        JsonNode chats = JSON.readTree(tokenizer(form).resolve("expected.json").toFile()).get("chats");
        List<String> lines = new ArrayList<>();
        chats.forEach(chat -> lines.add(((ObjectNode) chat.deepCopy()).retain("messages", "add_generation_prompt")
                .toString()));
        Path file = Files.write(directory.resolve("chats.jsonl"), lines);
        List<String> printed = Execution.of(List.of("tokenize", "--tokenizer", tokenizer(form).toString(),
                "--json-chats", file.toString())).requireDone().output().lines().toList();
        for (int chat = 0; chat < chats.size(); chat++) {
            assertEquals(chats.get(chat).get("ids"), JSON.readTree(printed.get(chat)));
        }
        assertEquals(chats.size(), printed.size());
    }

    @Test
    void shouldPrintTheIdsOfFilesWhenNoneIsWritten() throws IOException {
        Path one = Files.writeString(directory.resolve("1.txt"), "Hello, world!");
        Path two = Files.writeString(directory.resolve("2.txt"), "\n\n");
        assertEquals("15496 11 995 0\n628\n", Execution.of(List.of("tokenize", "--tokenizer", "gpt2", one.toString(),
                two.toString())).requireDone().output());
    }

    /** A text, and the same as tokens of two bytes or four, train to the same losses, and a sample is text again. */
    @ParameterizedTest
    @ValueSource(ints = {738, 70_001})
    void shouldTrainOnTheTokensOfADirectoryAsOnTheirText(int vocabulary) throws IOException {
        Path tokenizer = Files.createDirectory(directory.resolve("tokenizer"));
        ObjectNode file = (ObjectNode) JSON.readTree(tokenizer("gpt2").resolve("tokenizer.json").toFile());
        if (vocabulary > 738) {
            for (int id = 738; id < vocabulary; id++) {
                ((ArrayNode) file.get("added_tokens")).addObject().put("id", id).put("content",
                        id == vocabulary - 1 ? "<far>" : "<" + id + ">");
            }
        }
        Files.writeString(tokenizer.resolve("tokenizer.json"), JSON.writeValueAsString(file));
        Path texts = Files.createDirectory(directory.resolve("texts"));
        Files.writeString(texts.resolve("1.txt"), TEXT + (vocabulary > 738 ? "<far>" : ""));
        Files.writeString(texts.resolve("2.txt"), TEXT);
        Path tokens = directory.resolve("t.bin");
        Execution made = Execution
                .of(List.of("tokenize", "--tokenizer", tokenizer.toString(), "--out", tokens.toString(),
                        texts.toString()))
                .requireDone();
        assertTrue(made.output().contains("-s model.vocabulary-size=" + vocabulary), made.output());
        Path ofText = directory.resolve("of-text");
        String output = train(ofText, "data.path=" + texts, "data.tokenizer=" + tokenizer,
                "observe.sample-tokens=20");
        assertTrue(output.contains("The model continues \""), output);
        Path ofTokens = directory.resolve("of-tokens");
        train(ofTokens, "data.path=" + tokens, "model.vocabulary-size=" + vocabulary);
        assertEquals(RunFiles.results(ofText), RunFiles.results(ofTokens));
        assertTrue(Files.readString(ofText.resolve("config.conf")).contains("tokenizer = \"" + tokenizer + "\""));
        if (vocabulary > 738) {
            Execution.train(directory.resolve("wrong"), List.of("data.path=" + tokens, "data.token-bytes=2",
                    "model.vocabulary-size=" + vocabulary))
                    .requireRefused(tokens + " has the header of llm.c for tokens"
                            + " of 4 bytes each, but data.token-bytes = 2");
        }
    }

    /** The model of a run, with a tokenizer in its directory, trains on in the tokens of that tokenizer. */
    @Test
    void shouldTakeTheTokenizerOfTheModel() throws IOException {
        Path text = Files.writeString(directory.resolve("text.txt"), TEXT);
        train(directory.resolve("first"), "data.path=" + text, "data.tokenizer=" + tokenizer("smollm"));
        Path model = directory.resolve("first/model");
        Path second = directory.resolve("second");
        Execution.train(second, List.of("model.from=" + model, "data.path=" + text, "training.steps=2",
                "parallel.pipeline=1", "training.global-batch-size=2", "training.microbatch-size=1",
                "engine.kind=reference", "data.cache=none")).requireDone();
        assertTrue(Files.readString(second.resolve("config.conf")).contains("tokenizer = \"" + model + "\""));
    }

    @Test
    void shouldNameTheLineOfAWrongValue() throws IOException {
        Path file = Files.writeString(directory.resolve("f.jsonl"), "\"a\"\n{\"a\": 1}\n");
        refused("--json-strings", file, file + ", line 2: must be a JSON string");
        Files.writeString(file, "\"a\"\n\"b\"\n\"c\n");
        refused("--json-strings", file, file + ", line 3: must be a JSON string, but is no JSON");
        Files.writeString(file, "{\"messages\": []}\n{\"text\": \"a\"}\n");
        refused("--json-chats", file, file + ", line 2: must be a JSON object with messages");
        refused("--json-chats", directory.resolve("gone"), "there is no file " + directory.resolve("gone"));
        Execution.of(List.of("tokenize", "--tokenizer", "gpt2", "--json-chats", file.toString()))
                .requireRefused("has no chat template");
        Execution.of(List.of("tokenize", "--tokenizer", "gpt2"))
                .requireRefused("name text files, or give --json-strings");
        Execution.of(List.of("tokenize", "--tokenizer", "gpt2", "--out", "a.bin", "--json-strings", file.toString()))
                .requireRefused("--out is for text files");
    }

    @Test
    void shouldNameTheFileAndThePartThatIsNotKnown() throws IOException {
        Path file = Files.writeString(directory.resolve("tokenizer.json"), "{\"normalizer\": {\"type\": \"Nmt\"}}");
        String sentence = file + ": normalizer.type must be NFC";
        Execution.of(List.of("tokenize", "--tokenizer", directory.toString(), file.toString()))
                .requireRefused(sentence);
        Execution.train(directory.resolve("run"), List.of("data.tokenizer=" + directory)).requireRefused(sentence);
        Files.writeString(file, "{\n}}");
        Execution.train(directory.resolve("run"), List.of("data.tokenizer=" + directory))
                .requireRefused(file + ": pre_tokenizer is not there");
        assertTrue(Files.notExists(directory.resolve("run")));
    }

    private void refused(String option, Path file, String sentence) {
        Execution.of(List.of("tokenize", "--tokenizer", tokenizer("qwen").toString(), option, file.toString()))
                .requireRefused(sentence);
    }

    private String train(Path out, String... settings) {
        List<String> all = new ArrayList<>(List.of("model.layers=2", "model.hidden=8", "model.heads=2",
                "model.sequence-length=8", "parallel.pipeline=2", "training.steps=2", "training.global-batch-size=4",
                "training.microbatch-size=1", "engine.kind=reference", "data.cache=" + directory.resolve("cache")));
        all.addAll(List.of(settings));
        return Execution.train(out, all).requireDone().output();
    }

    private static Path tokenizer(String form) {
        try {
            return Path.of(TokenizeTest.class.getResource("/tokenizers/" + form).toURI());
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
