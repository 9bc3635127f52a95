package dev.troupe.tokenizer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Added tokens with every combination of their options, compared with Hugging Face's own library. The draws are the same in
 * every build: the library aborts the process on some combinations (its panic is "bad split"), and no test could continue.
 */
@Tag("parity")
class AddedTokensTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final List<String> CONTENTS = List.of("<a>", "<ab>", "word", "wor", "éa", "e\u0301x", "\n\n", "  ",
            "x y",
            "12", "_z", " lead", "<|m|>");
    private static final String[] PARTS = {"<a>", "<ab>", "word", "words", "swor", "wor", "é", "éa", "e\u0301", "x",
            "\n", "  ",
            " ", "\t", "x y", "12", "123", "_z", "z", ".", " lead", "<|m|>", "<", "漢", "\u00a0"};

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"gpt2", "qwen", "smollm"})
    void shouldBeFoundAsHuggingFaceFindsThem(String form) throws IOException {
        SplittableRandom random = new SplittableRandom(form.hashCode());
        for (int round = 0; round < 12; round++) {
            write(form, random);
            Tokenizer tokenizer = Tokenizer.named(directory.toString());
            try (Oracle oracle = Oracle.open(directory)) {
                for (int text = 0; text < 60; text++) {
                    StringBuilder drawn = new StringBuilder();
                    for (int part = random.nextInt(12); part >= 0; part--) {
                        drawn.append(PARTS[random.nextInt(PARTS.length)]);
                    }
                    int[] expected = oracle.encode(drawn.toString());
                    assertArrayEquals(expected, tokenizer.encode(drawn.toString()),
                            () -> "\"" + drawn + "\"");
                    assertEquals(oracle.decode(expected), tokenizer.decode(expected));
                }
            }
        }
    }

    /** The numbers of tokenizers 0.23.2; the model has 737 tokens. */
    @ParameterizedTest
    @CsvSource(delimiter = '!', quoteCharacter = '`', value = {
            "[[60000, '<h>']] ! 737", "[[739, '<a>'], [737, '<h>'], [738, '<c>']] ! 738",
            "[[737, '<a>'], [739, '<h>']] ! 738", "[[737, ''], [738, '<h>']] ! 737",
            "[[737, '<a>'], [738, '<a>'], [739, '<h>']] ! 738", "[[32, 'A'], [300, '<h>']] ! 737"})
    void shouldHaveTheNumbersThatHuggingFaceGivesWhateverTheFileHas(String added, int expected) throws IOException {
        ObjectNode file = (ObjectNode) JSON.readTree(Forms.directory("gpt2").resolve("tokenizer.json").toFile());
        ArrayNode tokens = file.putArray("added_tokens");
        JSON.readTree(added.replace('\'', '"')).forEach(token -> tokens.addObject().put("id", token.get(0).intValue())
                .put("content", token.get(1).textValue()).put("normalized", false).put("special", true)
                .put("single_word", false).put("lstrip", false).put("rstrip", false));
        Files.writeString(directory.resolve("tokenizer.json"), JSON.writeValueAsString(file));
        Tokenizer tokenizer = Tokenizer.named(directory.toString());
        try (Oracle oracle = Oracle.open(directory)) {
            assertArrayEquals(new int[]{expected}, oracle.encode("<h>"));
        }
        assertArrayEquals(new int[]{expected}, tokenizer.encode("<h>"));
        assertEquals("<h>", tokenizer.decode(new int[]{expected}));
        assertTrue(tokenizer.vocabularySize() <= 740, "no hole counts");
    }

    private void write(String form, SplittableRandom random) throws IOException {
        ObjectNode file = (ObjectNode) JSON.readTree(Forms.directory(form).resolve("tokenizer.json").toFile());
        ArrayNode added = (ArrayNode) file.get("added_tokens");
        int next = Forms.expected(form).get("vocabulary_size").intValue();
        for (String content : CONTENTS) {
            added.addObject().put("id", next++).put("content", content).put("single_word", random.nextInt(4) == 0)
                    .put("lstrip", random.nextInt(4) == 0).put("rstrip", random.nextInt(4) == 0)
                    .put("normalized", random.nextBoolean()).put("special", random.nextBoolean());
        }
        Files.writeString(directory.resolve("tokenizer.json"), JSON.writeValueAsString(file));
    }
}
