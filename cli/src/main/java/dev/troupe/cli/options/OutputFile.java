package dev.troupe.cli.options;

import dev.troupe.plan.UsageException;
import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file of text that an option names. */
public final class OutputFile {
    private OutputFile() {
    }

    /**
     * Writes the file and the directories above it.
     *
     * @throws UsageException with the reason if that is impossible
     */
    public static void write(String option, Path file, String text) {
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Files.writeString(file, text);
        } catch (IOException failure) {
            throw new UsageException("cannot write " + file + " (" + FileReason.of(failure)
                    + "); name another file with " + option, failure);
        }
    }
}
