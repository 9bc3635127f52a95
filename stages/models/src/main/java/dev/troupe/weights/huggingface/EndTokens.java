package dev.troupe.weights.huggingface;

import dev.troupe.tokenizer.file.FilePart;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The tokens that end a generated text; a published model may have several, for a turn and for a document. */
public final class EndTokens {
    private static final List<String> FILES = List.of("generation_config.json", HuggingFaceModel.CONFIG);

    private EndTokens() {
    }

    /**
     * Returns the {@code eos_token_id} of a directory, a number or a list, from {@code generation_config.json}, else from
     * {@code config.json}, as transformers takes it.
     *
     * @throws dev.troupe.tokenizer.file.TokenizerException if it is no id
     */
    public static Set<Integer> in(Path directory) {
        Set<Integer> ids = new TreeSet<>();
        for (String name : FILES) {
            Path file = directory.resolve(name);
            if (ids.isEmpty() && Files.isRegularFile(file)) {
                FilePart tokens = FilePart.read(file).at("eos_token_id");
                if (tokens.isList()) {
                    tokens.elements().forEach(token -> ids.add(token.id()));
                } else if (!tokens.isAbsent()) {
                    ids.add(tokens.id());
                }
            }
        }
        return ids;
    }
}
