package dev.troupe.data;

import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Stream;

/**
 * The files of a corpus, each once, in the order of the given names. A name is a file, a folder (all files below it except
 * empty ones, hidden ones and those in hidden folders), or a glob ({@code *}, {@code ?}, {@code [a-z]}, {@code {a,b}};
 * {@code **} crosses folders), which finds hidden names only if it has their dot. The files of a folder or a glob are sorted
 * as text, so {@code part-10} is before {@code part-2}.
 *
 * @param files at least one
 */
public record CorpusFiles(String name, List<Path> files, Kind kind) {
    private static final String TOKEN_FILE_SUFFIX = ".bin";
    private static final List<String> DOCUMENT_SUFFIXES = List.of(".jsonl", ".parquet", ".ndjson", ".jsonlines",
            ".json");
    private static final List<String> COMPRESSED_SUFFIXES = List.of(".gz", ".tgz", ".zst", ".zstd", ".bz2", ".xz",
            ".lz4", ".zip", ".7z", ".tar");
    private static final String GLOB_SIGNS = "*?[{";
    private static final String ANY_DEPTH = "**";

    /** The content of a file by its suffix, in letters of either case. */
    public enum Kind {
        /** Text: every other suffix. */
        TEXT,
        /** {@code .bin}: token ids, without boundaries. */
        TOKENS,
        /**
         * {@code .jsonl} under each of its names ({@code .ndjson}, {@code .jsonlines}, {@code .json}), or {@code .parquet}:
         * documents, which are packed into rows.
         */
        DOCUMENTS
    }

    public CorpusFiles {
        files = List.copyOf(files);
    }

    public static Kind kindOf(Path file) {
        if (endsWith(file, TOKEN_FILE_SUFFIX)) {
            return Kind.TOKENS;
        }
        return DOCUMENT_SUFFIXES.stream().anyMatch(suffix -> endsWith(file, suffix)) ? Kind.DOCUMENTS : Kind.TEXT;
    }

    /** Returns whether a file's name ends with a suffix, in letters of either case. */
    public static boolean endsWith(Path file, String suffix) {
        return file.getFileName() != null
                && file.getFileName().toString().toLowerCase(Locale.ROOT).endsWith(suffix);
    }

    /** Returns whether a file is taken for tokens, by its name. */
    public static boolean isTokenFile(Path file) {
        return kindOf(file) == Kind.TOKENS;
    }

    public boolean areTokens() {
        return kind == Kind.TOKENS;
    }

    /**
     * Finds the files.
     *
     * @param names of files, folders and globs, at least one
     * @throws DataException if one of them names no file, a folder cannot be read, or the files are of two kinds
     */
    public static CorpusFiles find(List<Path> names) {
        Set<Path> found = new LinkedHashSet<>();
        names.forEach(name -> found.addAll(filesOf(name)));
        List<Path> files = List.copyOf(found);
        files.stream().filter(CorpusFiles::isCompressed).findFirst().ifPresent(compressed -> {
            throw DataFile.compressed(compressed, "its name");
        });
        Kind kind = kindOf(files.getFirst());
        files.stream().filter(file -> kindOf(file) != kind).findFirst().ifPresent(other -> {
            throw new DataException("a corpus must be text, " + TOKEN_FILE_SUFFIX + " files of tokens, or "
                    + String.join(" and ", DOCUMENT_SUFFIXES.subList(0, 2)) + " files of documents, but "
                    + files.getFirst() + " and "
                    + other + " are of two kinds; name files of one kind, or make tokens of text with troupe tokenize");
        });
        return new CorpusFiles(nameOf(files), files, kind);
    }

    private static boolean isCompressed(Path file) {
        return COMPRESSED_SUFFIXES.stream().anyMatch(suffix -> endsWith(file, suffix));
    }

    private static String nameOf(List<Path> files) {
        return files.size() == 1
                ? files.getFirst().toString()
                : files.size() + " files, " + files.getFirst() + " to " + files.getLast().getFileName();
    }

    private static List<Path> filesOf(Path name) {
        try {
            if (Files.isDirectory(name)) {
                return below(name, Integer.MAX_VALUE, CorpusFiles::isShown,
                        name + " is a folder without a file with content; put text or tokens there, or"
                                + " name another");
            }
            boolean isGlob = name.toString().chars().anyMatch(sign -> GLOB_SIGNS.indexOf(sign) >= 0);
            return Files.exists(name) || !isGlob ? List.of(name) : matching(name);
        } catch (IOException | UncheckedIOException failure) {
            throw new DataException("cannot look for files in " + name + ": " + FileReason.of(failure), failure);
        }
    }

    private static List<Path> matching(Path glob) throws IOException {
        Path base = glob.getRoot() == null ? Path.of("") : glob.getRoot();
        int names = 0;
        while (glob.getName(names).toString().chars().noneMatch(sign -> GLOB_SIGNS.indexOf(sign) >= 0)) {
            base = base.resolve(glob.getName(names++));
        }
        String nothing = "no file with content has the name " + glob
                + "; name existing files";
        if (!Files.isDirectory(base)) {
            throw new DataException(nothing);
        }
        Path pattern = glob.subpath(names, glob.getNameCount());
        int depth = pattern.toString().contains(ANY_DEPTH) ? Integer.MAX_VALUE : pattern.getNameCount();
        try {
            PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + pattern);
            boolean asksForHidden = !isShown(pattern);
            return below(base, depth, file -> matcher.matches(file) && (asksForHidden || isShown(file)), nothing);
        } catch (PatternSyntaxException malformed) {
            throw new DataException(glob + " is no file, and no glob either: " + malformed.getDescription()
                    + "; name a file, a folder or a glob such as data/*.txt", malformed);
        }
    }

    private static List<Path> below(Path folder, int depth, PathMatcher wanted, String nothing) throws IOException {
        List<Path> files = new ArrayList<>();
        try (Stream<Path> all = Files.walk(folder, depth, FileVisitOption.FOLLOW_LINKS)) {
            all.filter(Files::isRegularFile).filter(file -> wanted.matches(folder.relativize(file)))
                    .forEach(files::add);
        }
        List<Path> filled = new ArrayList<>();
        for (Path file : files) {
            if (Files.size(file) > 0) {
                filled.add(file);
            }
        }
        if (filled.isEmpty()) {
            throw new DataException(nothing);
        }
        filled.sort(Comparator.comparing(file -> folder.relativize(file).toString()));
        return filled;
    }

    private static boolean isShown(Path path) {
        for (Path name : path) {
            if (name.toString().startsWith(".")) {
                return false;
            }
        }
        return true;
    }
}
