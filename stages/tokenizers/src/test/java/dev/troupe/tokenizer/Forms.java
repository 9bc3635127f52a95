package dev.troupe.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;

/** The small tokenizers of each form, as directories. */
final class Forms {
    private Forms() {
    }

    static Path directory(String form) {
        try {
            return Path.of(Forms.class.getResource("/tokenizers/" + form).toURI());
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    static JsonNode expected(String form) throws IOException {
        return new JsonMapper().readTree(directory(form).resolve("expected.json").toFile());
    }
}
