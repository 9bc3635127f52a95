package dev.troupe.cli.options;

import dev.troupe.plan.UsageException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The option of the file to which a text is written in place of the terminal. */
public final class OutOption {
    @Option(names = "--out", paramLabel = "FILE", description = "Where to write; default: the terminal.")
    private Path out;

    /** Returns the file; empty for the terminal. */
    public Optional<Path> file() {
        return Optional.ofNullable(out);
    }

    /**
     * Checks the file before any work.
     *
     * @throws UsageException if it cannot be one
     */
    public void requireWritable() {
        if (out == null) {
            return;
        }
        Path folder = out.toAbsolutePath().getParent();
        if (Files.isDirectory(out) || folder == null || !Files.isDirectory(folder)) {
            throw new UsageException("--out must name a file in a directory that exists, but found " + out + ": "
                    + (Files.isDirectory(out) ? "name a file in it" : "make " + folder + ", or choose another"));
        }
    }

    /** Writes a text to the file, or prints it. */
    public void write(String text) {
        if (out == null) {
            System.out.print(text);
            System.out.flush();
            return;
        }
        OutputFile.write("--out", out, text);
    }
}
