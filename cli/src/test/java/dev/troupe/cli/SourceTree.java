package dev.troupe.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The sources of every module. */
final class SourceTree {
    static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    /** Every source by its file, read once. */
    static final Map<Path, String> TEXTS = texts();

    private SourceTree() {
    }

    static boolean isMain(Path file) {
        return file.toString().contains("/src/main/");
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static Map<Path, String> texts() {
        try (Stream<Path> files = Files.walk(ROOT)) {
            Map<Path, String> texts = new TreeMap<>();
            files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> !ROOT.relativize(file).toString().contains("target/"))
                    .forEach(file -> texts.put(file, read(file)));
            return texts;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
