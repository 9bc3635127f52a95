package dev.troupe.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The sources of every module. */
final class SourceTree {
    static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    /** Directories of what is built, and of Git. */
    private static final Set<String> NO_SOURCES = Set.of("target", ".git");
    /** Every file, links among them. */
    static final List<Path> FILES = files();
    /** Every source by its file, read once. */
    static final Map<Path, String> TEXTS = texts();

    private SourceTree() {
    }

    static boolean isMain(Path file) {
        return file.toString().contains("/src/main/");
    }

    static boolean hasPackage(String name) {
        Path folder = Path.of(name.replace('.', '/'));
        return TEXTS.keySet().stream().anyMatch(file -> file.getParent().endsWith(folder));
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static Map<Path, String> texts() {
        Map<Path, String> texts = new TreeMap<>();
        FILES.stream().filter(file -> file.toString().endsWith(".java")).forEach(file -> texts.put(file, read(file)));
        return texts;
    }

    /** What is built comes and goes while a build of another module is at work. */
    private static List<Path> files() {
        List<Path> files = new ArrayList<>();
        try {
            Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                    return NO_SOURCES.contains(directory.getFileName().toString())
                            ? FileVisitResult.SKIP_SUBTREE
                            : FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    files.add(file);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return List.copyOf(files);
    }
}
