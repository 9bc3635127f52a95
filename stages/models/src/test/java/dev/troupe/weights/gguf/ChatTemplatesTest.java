package dev.troupe.weights.gguf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.model.InitialWeights;
import dev.troupe.model.ModelSpec;
import dev.troupe.tokenizer.file.TokenizerException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The keys are those that gguf 0.19, which llama.cpp's converter uses, writes for the same settings. */
@Tag("parity")
class ChatTemplatesTest {
    @TempDir
    private Path directory;
    private Path tokenizer;

    @BeforeEach
    void copyTokenizer() throws IOException {
        tokenizer = Files.createDirectory(directory.resolve("tokenizer"));
        Files.copy(GgufFileTest.tokenizer("qwen").resolve("tokenizer.json"), tokenizer.resolve("tokenizer.json"));
    }

    @Test
    void shouldWriteNamedTemplatesAsTheConverterDoes() throws IOException {
        settings("[{\"name\": \"default\", \"template\": \"a\"}, {\"name\": \"tool use\", \"template\": \"b\"},"
                + " {\"name\": \"rag\", \"template\": \"c\"}]");
        assertEquals(Map.of("tokenizer.chat_template", "a", "tokenizer.chat_template.tool_use", "b",
                "tokenizer.chat_template.rag", "c", "tokenizer.chat_templates", List.of("tool_use", "rag")), written());
        settings("[{\"name\": \"tool_use\", \"template\": \"b\"}]");
        assertEquals(Map.of("tokenizer.chat_template.tool_use", "b", "tokenizer.chat_templates", List.of("tool_use")),
                written());
    }

    @Test
    void shouldFindATemplateInAnyPlaceOfAFolder() throws IOException {
        assertEquals(Map.of(), written());
        settings("\"of the settings\"");
        assertEquals(Map.of("tokenizer.chat_template", "of the settings"), written());
        Files.writeString(tokenizer.resolve("chat_template.json"), "{\"chat_template\": \"of its JSON file\"}");
        assertEquals(Map.of("tokenizer.chat_template", "of its JSON file"), written());
        Files.writeString(tokenizer.resolve("chat_template.jinja"), "of its file");
        assertEquals(Map.of("tokenizer.chat_template", "of its file"), written());
    }

    @Test
    void shouldRefuseTemplatesOfAnotherForm() throws IOException {
        settings("3");
        assertRefused("chat_template must be a text, but found 3");
        settings("[{\"template\": \"a\"}]");
        assertRefused("chat_template[0].name must be a text, but found nothing");
        settings("[{\"name\": \"a\", \"template\": \"a\"}, {\"name\": \"a\", \"template\": \"b\"}]");
        assertRefused("chat_template[1].name is \"a\" a second time; leave one of them out");
    }

    private void assertRefused(String sentence) {
        assertEquals(tokenizer.resolve("tokenizer_config.json") + ": " + sentence,
                assertThrows(TokenizerException.class, this::written).getMessage());
    }

    private void settings(String templates) throws IOException {
        Files.writeString(tokenizer.resolve("tokenizer_config.json"), "{\"chat_template\": " + templates + "}");
    }

    /** The keys of templates in a file. */
    private Map<String, Object> written() throws IOException {
        ModelSpec model = GgufFileTest.model("llama", Map.of());
        Path path = directory.resolve("model.gguf");
        GgufFile.of(model, GgufType.F16, GgufVocabulary.read(tokenizer), "small").write(path,
                new InitialWeights(model, 1));
        Map<String, Object> found = new LinkedHashMap<>(ReadGguf.of(path).metadata());
        found.keySet().removeIf(key -> !key.startsWith("tokenizer.chat_template"));
        return found;
    }
}
