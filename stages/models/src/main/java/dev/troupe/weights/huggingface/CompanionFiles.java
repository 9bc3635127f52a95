package dev.troupe.weights.huggingface;

import dev.troupe.tokenizer.file.BoundedFile;
import dev.troupe.tokenizer.file.FileReason;
import dev.troupe.weights.WeightException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;

/**
 * The files of a published model next to its configuration and its weights: its tokenizer, chat template and generation
 * settings. They are data, found by name, and no programs.
 */
public final class CompanionFiles {
    private static final List<String> OF_TOKENIZER = List.of("tokenizer.json", "tokenizer_config.json",
            "special_tokens_map.json", "added_tokens.json", "chat_template.jinja", "chat_template.json", "vocab.json",
            "merges.txt", "tokenizer.model");
    /** The files that make tokens; the others only add to a tokenizer. */
    private static final List<String> MAKING_TOKENS = List.of("tokenizer.json", "vocab.json", "tokenizer.model");
    /** Named templates, each in a file of its name. */
    private static final String NAMED_TEMPLATES = "additional_chat_templates";
    private static final List<String> OF_MODEL = List.of("generation_config.json");

    private CompanionFiles() {
    }

    /**
     * Returns the companions in a directory.
     *
     * @throws WeightException if one is larger than {@link BoundedFile#MOST_BYTES}
     */
    public static List<Path> in(Path directory) {
        return Stream.of(ofTokenizer(directory), OF_MODEL).flatMap(List::stream).map(directory::resolve)
                .filter(Files::isRegularFile).map(CompanionFiles::bounded).toList();
    }

    /** Returns whether a directory has a file that makes tokens of text; a chat template alone is no tokenizer. */
    public static boolean hasTokenizer(Path directory) {
        return MAKING_TOKENS.stream().anyMatch(name -> Files.isRegularFile(directory.resolve(name)));
    }

    /** Copies the files of a directory's tokenizer into another, which is created if it does not exist. */
    public static void copyTokenizer(Path from, Path into) {
        copy(from, ofTokenizer(from), into);
    }

    /** As {@link #copyTokenizer}, for the other companions and the configuration, which names special tokens. */
    public static void copyModel(Path from, Path into) {
        copy(from, Stream.concat(OF_MODEL.stream(), Stream.of(HuggingFaceModel.CONFIG)).toList(), into);
    }

    private static List<String> ofTokenizer(Path directory) {
        Path templates = directory.resolve(NAMED_TEMPLATES);
        if (!Files.isDirectory(templates)) {
            return OF_TOKENIZER;
        }
        try (Stream<Path> files = Files.list(templates)) {
            return Stream.concat(OF_TOKENIZER.stream(),
                    files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".jinja")).sorted()
                            .map(name -> NAMED_TEMPLATES + '/' + name))
                    .toList();
        } catch (IOException failure) {
            throw new WeightException("cannot read " + templates + ": " + FileReason.of(failure), failure);
        }
    }

    private static void copy(Path from, List<String> names, Path into) {
        for (String name : names) {
            Path file = from.resolve(name);
            if (!Files.isRegularFile(file)) {
                continue;
            }
            bounded(file);
            try {
                Path copy = into.resolve(name);
                Files.createDirectories(copy.getParent());
                Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
            } catch (IOException failure) {
                throw new WeightException("cannot copy " + file + " to " + into + ": " + FileReason.of(failure),
                        failure);
            }
        }
    }

    private static Path bounded(Path file) {
        try {
            if (Files.size(file) > BoundedFile.MOST_BYTES) {
                throw new WeightException(
                        file + " has " + Files.size(file) + " bytes, and a file next to a model at most "
                                + BoundedFile.MOST_BYTES + ": take it away, or put the right one in its place");
            }
            return file;
        } catch (IOException failure) {
            throw new WeightException("cannot read " + file + ": " + FileReason.of(failure), failure);
        }
    }
}
