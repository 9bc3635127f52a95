package dev.troupe.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The pages of documents, in Markdown. The log and the decisions are records of their day, and no pages. */
final class Pages {
    static final Path README = page("README.md");
    private static final List<String> OF_THE_ROOT = List.of("README.md", "CONTRIBUTING.md", "SECURITY.md",
            "CHANGELOG.md");
    private static final Pattern FENCE = Pattern.compile("(?ms)^```\\w*\n(.*?)^```$");

    private Pages() {
    }

    static Path page(String name) {
        return SourceTree.ROOT.resolve(name);
    }

    static String text(Path page) {
        return SourceTree.read(page);
    }

    static String text(String name) {
        return text(page(name));
    }

    /** The pages of the root and of docs. */
    static List<Path> guides() {
        List<Path> pages = new ArrayList<>(OF_THE_ROOT.stream().map(Pages::page).toList());
        pages.addAll(below("docs", 1));
        return List.copyOf(pages);
    }

    /** The guides, and the pages of the benchmarks. */
    static List<Path> all() {
        return Stream.concat(guides().stream(), below("bench", Integer.MAX_VALUE).stream()).toList();
    }

    /** The decisions and the log. */
    static List<Path> records() {
        return Stream.concat(below("docs/decisions", 1).stream(), Stream.of(page("docs/LOG.md"))).toList();
    }

    private static List<Path> below(String folder, int depth) {
        try (Stream<Path> files = Files.walk(page(folder), depth)) {
            return files.filter(file -> file.toString().endsWith(".md") && !file.endsWith("LOG.md")).sorted().toList();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    /** The contents of the fences of a page, in its order. */
    static List<MatchResult> fences(Path page) {
        return FENCE.matcher(text(page)).results().toList();
    }

    /** The words of a command, as a shell parts them. */
    static List<String> words(String command) {
        return Pattern.compile("\"[^\"]*\"|'[^']*'|\\S+").matcher(command).results()
                .map(found -> found.group().replaceAll("^[\"']|[\"']$", "")).toList();
    }
}
