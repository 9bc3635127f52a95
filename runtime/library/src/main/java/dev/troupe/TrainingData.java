package dev.troupe;

import static java.util.Objects.requireNonNull;

import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigValueFactory;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The data of a run: text in memory, files, or the data of the configuration. Text and files of a program win over
 * {@code data.path}.
 */
public final class TrainingData {
    /** The file for a program's text in the directory of its run, so that the run can be resumed without the program. */
    static final String TEXT_FILE = "corpus.txt";

    private static final String KEY = "data.path=";
    private static final TrainingData CONFIGURED = new TrainingData(Optional.empty(), List.of());

    private final Optional<byte[]> text;
    private final List<Path> files;

    private TrainingData(Optional<byte[]> text, List<Path> files) {
        this.text = text;
        this.files = files;
    }

    /** Returns the data of {@code data.path}: by default a built-in million characters of Shakespeare. */
    public static TrainingData configured() {
        return CONFIGURED;
    }

    /**
     * Returns a text, which the run also writes into its directory.
     *
     * @throws RequestException if it has half a character, a surrogate without the other one
     */
    public static TrainingData ofText(String text) {
        try {
            ByteBuffer utf8 = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(requireNonNull(text, "text")));
            return new TrainingData(Optional.of(Arrays.copyOf(utf8.array(), utf8.limit())), List.of());
        } catch (CharacterCodingException malformed) {
            throw new RequestException("the text in memory has half a character, a surrogate without the other one;"
                    + " cut texts between characters", malformed);
        }
    }

    /** Returns files, folders or globs, in any form that {@code data.path} accepts. */
    public static TrainingData ofFiles(Path... files) {
        for (Path file : requireNonNull(files, "files")) {
            requireNonNull(file, "files");
        }
        return new TrainingData(Optional.empty(), List.of(files));
    }

    Optional<byte[]> text() {
        return text;
    }

    /** Returns the setting that names the data in a run's directory; empty if the configuration does. */
    Optional<String> setting(Path directory) {
        if (text.isPresent()) {
            return Optional.of(KEY + list(List.of(directory.resolve(TEXT_FILE))));
        }
        return this == CONFIGURED ? Optional.empty() : Optional.of(KEY + list(files));
    }

    private static String list(List<Path> paths) {
        return ConfigValueFactory.fromIterable(paths.stream().map(Path::toString).toList())
                .render(ConfigRenderOptions.concise());
    }
}
