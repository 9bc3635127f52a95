package dev.troupe.weights.gguf;

import dev.troupe.tokenizer.file.BoundedFile;
import dev.troupe.tokenizer.file.FilePart;
import dev.troupe.tokenizer.file.FileReason;
import dev.troupe.tokenizer.file.TokenizerException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The chat templates of a tokenizer, as llama.cpp's converter writes them: {@code default}, or the only one, under the key
 * that llama.cpp reads, and each other under its name.
 */
record ChatTemplates(Map<String, String> byName) {
    private static final String DEFAULT = "default";
    private static final String KEY = "tokenizer.chat_template";
    private static final String TEMPLATE = "chat_template";
    private static final String FILE = TEMPLATE + ".jinja";
    private static final String JSON_FILE = TEMPLATE + ".json";

    /**
     * Finds the templates of a directory: in {@code chat_template.jinja}, else in {@code chat_template.json}, else in the
     * settings of the tokenizer.
     *
     * @throws TokenizerException if a file cannot be read, or has templates in another form
     */
    static ChatTemplates in(Path directory, Optional<FilePart> settings) {
        Path file = directory.resolve(FILE);
        if (Files.isRegularFile(file)) {
            try {
                return new ChatTemplates(Map.of(DEFAULT, BoundedFile.text(file)));
            } catch (IOException failure) {
                throw new TokenizerException("cannot read " + file + ": " + FileReason.of(failure), failure);
            }
        }
        Path json = directory.resolve(JSON_FILE);
        Optional<FilePart> holder = Files.isRegularFile(json) ? Optional.of(FilePart.read(json)) : settings;
        return holder.map(part -> part.at(TEMPLATE)).filter(part -> !part.isAbsent()).map(ChatTemplates::of)
                .orElse(new ChatTemplates(Map.of()));
    }

    private static ChatTemplates of(FilePart part) {
        if (!part.isList()) {
            return new ChatTemplates(Map.of(DEFAULT, part.text()));
        }
        Map<String, String> byName = new LinkedHashMap<>();
        for (FilePart template : part.elements()) {
            String name = template.at("name").text();
            if (byName.put(name, template.at("template").text()) != null) {
                throw template.at("name").refusal("is \"" + name + "\" a second time; leave one of them out");
            }
        }
        return new ChatTemplates(byName);
    }

    void putInto(GgufMetadata metadata) {
        List<String> others = new ArrayList<>();
        byName.forEach((name, source) -> {
            String plain = name.replaceAll("[^A-Za-z0-9]", "_");
            if (!name.equals(DEFAULT) && !plain.isEmpty() && !others.contains(plain)) {
                others.add(plain);
                metadata.put(KEY + "." + plain, source);
            }
        });
        if (!others.isEmpty()) {
            metadata.putTexts(KEY + "s", others);
        }
        if (byName.containsKey(DEFAULT)) {
            metadata.put(KEY, byName.get(DEFAULT));
        }
    }
}
