package dev.troupe.tokenizer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The ids of Hugging Face's own tokenizers for each text, for a small tokenizer of each form. */
@Tag("plan")
class TokenizerGoldenTest {
    private static final JsonMapper JSON = new JsonMapper();

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "llama3", "qwen", "smollm"})
    void shouldMakeTheIdsOfEveryRow(String form) throws IOException {
        check(Forms.directory(form), Forms.expected(form));
    }

    /** Hugging Face writes {@code ["a", "b"]} since 2024 and wrote {@code "a b"} before. */
    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "llama3", "qwen", "smollm"})
    void shouldReadTheOlderFormOfMerges(String form) throws IOException {
        ObjectNode file = (ObjectNode) JSON.readTree(Forms.directory(form).resolve("tokenizer.json").toFile());
        ArrayNode older = JSON.createArrayNode();
        file.at("/model/merges").forEach(merge -> older.add(merge.get(0).asText() + " " + merge.get(1).asText()));
        ((ObjectNode) file.get("model")).set("merges", older);
        Files.writeString(directory.resolve("tokenizer.json"), JSON.writeValueAsString(file));
        check(directory, Forms.expected(form));
    }

    private static void check(Path directory, JsonNode expected) {
        Tokenizer plain = Tokenizer.named(directory.toString());
        Tokenizer whole = Tokenizer.named(directory.toString(), true);
        assertEquals(expected.get("vocabulary_size").intValue(), plain.vocabularySize());
        assertTrue(expected.get("rows").size() > 90);
        for (JsonNode row : expected.get("rows")) {
            String text = row.get("text").textValue();
            int[] ids = ids(row.get("ids"));
            assertArrayEquals(ids, plain.encode(text), text);
            assertArrayEquals(ids, plain.encode(text), "a second time: " + text);
            assertArrayEquals(ids(row.get("with_special")), Stream.of(whole.beforeText(), whole.encode(text),
                    whole.afterText()).flatMapToInt(IntStream::of).toArray(), text);
            assertEquals(row.get("decoded").textValue(), plain.decode(ids));
        }
        for (JsonNode chat : expected.get("chats")) {
            assertArrayEquals(ids(chat.get("ids")), plain.encode(chat.get("text").textValue()));
        }
    }

    private static int[] ids(JsonNode list) {
        return IntStream.range(0, list.size()).map(i -> list.get(i).intValue()).toArray();
    }

    @Test
    void shouldFindTheEndOfTextInTheSettings() throws IOException {
        assertEquals(889, Tokenizer.named(Forms.directory("llama3").toString()).endOfText().orElseThrow());
        Files.copy(Forms.directory("gpt2").resolve("tokenizer.json"), directory.resolve("tokenizer.json"));
        assertTrue(Tokenizer.named(directory.toString()).endOfText().isEmpty());
        Files.writeString(directory.resolve("tokenizer_config.json"),
                "{\"eos_token\": {\"content\": \"<|endoftext|>\", \"lstrip\": false}}");
        assertEquals(737, Tokenizer.named(directory.toString()).endOfText().orElseThrow());
    }
}
