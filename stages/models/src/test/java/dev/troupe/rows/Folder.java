package dev.troupe.rows;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.data.CorpusFiles;
import dev.troupe.data.DataException;
import dev.troupe.data.TokenCache;
import dev.troupe.tokenizer.Tokenizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Files of documents, and tokenizers, of tests. */
record Folder(Path path) {
    static Path resource(String name) {
        try {
            return Path.of(Folder.class.getResource(name).toURI());
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    static Tokenizer tokenizer(String form) {
        return Tokenizer.named(resource("/tokenizers/" + form).toString());
    }

    /** The tokenizer of Qwen's form with another template. */
    Tokenizer tokenizerWith(String template) {
        try {
            Path folder = Files.createDirectories(path.resolve("tokenizer"));
            Path published = resource("/tokenizers/qwen");
            Files.write(folder.resolve("tokenizer.json"), Files.readAllBytes(published.resolve("tokenizer.json")));
            Files.writeString(folder.resolve("tokenizer_config.json"), "{\"eos_token\": \"<|im_end|>\"}");
            Files.writeString(folder.resolve("chat_template.jinja"), template);
            return Tokenizer.named(folder.toString());
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    Path file(String lines) {
        try {
            return Files.writeString(path.resolve("documents.jsonl"), lines);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    static PackedRows open(Path file, Tokenizer tokenizer, RowSettings settings) {
        return PackedRows.open(CorpusFiles.find(List.of(file)), tokenizer, settings, TokenCache.none());
    }

    /** Opens packed rows of ids, or of a text with its bytes as tokens. */
    static PackedRows open(Path file, int sequenceLength) {
        return open(file, Tokenizer.named("bytes"), new RowSettings(sequenceLength, true, false));
    }

    /** Returns the message about a file that makes no rows, without the name of the file. */
    static String refusal(Path file, Tokenizer tokenizer, RowSettings settings) {
        return assertThrows(DataException.class, () -> open(file, tokenizer, settings).close()).getMessage()
                .replace(file.toString(), "FILE");
    }
}
