package dev.troupe.look.output;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** A file that is replaced as a whole: a reader finds the old text or the new one. */
final class ReplacedFile {
    private ReplacedFile() {
    }

    /** Writes the text to a temporary file, and renames that. */
    static void write(Path file, String text) throws IOException {
        Path whole = file.resolveSibling(file.getFileName() + ".new");
        Files.writeString(whole, text);
        Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
