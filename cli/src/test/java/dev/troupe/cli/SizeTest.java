package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Limits on the size of files, packages, lists of imports, and lists of components. What is over a limit is in a list with
 * the size that it may have. The lists only shrink: an entry that is no longer needed, or larger than needed, fails.
 */
@Tag("plan")
class SizeTest {
    private static final int MOST_LINES = 380;
    private static final int MOST_FILES = 20;
    private static final int MOST_IMPORTS = 35;
    private static final int MOST_COMPONENTS = 10;
    private static final long MOST_BYTES = 256 << 10;

    private static final Map<String, Integer> LONG_FILES = Map.of();
    /** Packages, with their files. */
    private static final Map<String, Integer> LARGE_PACKAGES = Map.of();
    /** Main sources, with their imports. */
    private static final Map<String, Integer> MANY_IMPORTS = Map.of();
    /** Records and constructors, with their components. */
    private static final Map<String, Integer> MANY_COMPONENTS = Map.ofEntries(
            Map.entry("dev.troupe.protocol.RunSettings", 14),
            Map.entry("dev.troupe.config.fault.FaultSpec", 12),
            Map.entry("dev.troupe.rank.idle.RankTimes", 12),
            Map.entry("dev.troupe.schedule.Plan", 11));
    /** Folders and files that may be over {@link #MOST_BYTES}, each with what makes it. */
    private static final Map<String, String> LARGE_FILES = Map.of(
            "stages/models/src/test/resources/goldens/", "results of PyTorch, transformers and PEFT",
            "engines/cuda/src/main/resources/dev/troupe/engine/cuda/troupe-80.ptx",
            "compiled from the .cu files next to it; a build needs no CUDA toolkit",
            "runtime/core/src/main/resources/dev/troupe/plan/prepare/built-in-corpus.txt",
            "the corpus of the first run");

    private static final Pattern IMPORT = Pattern.compile("^import ", Pattern.MULTILINE);
    private static final Pattern PACKAGE = Pattern.compile("^package ([\\w.]+);", Pattern.MULTILINE);
    private static final Pattern COMMENT = Pattern.compile("(?s)/\\*.*?\\*/|//[^\n]*");
    /** A record, or a constructor by its modifier or its indentation, up to the parenthesis of its parameters. */
    private static final Pattern PARAMETERS = Pattern.compile(
            "\\brecord (\\w+)(?:<[^(]*>)?\\(|^ +(?:public |protected |private )?([A-Z]\\w*)\\((?=[^;]*\\{)",
            Pattern.MULTILINE);

    @Test
    void shouldKeepFilesThatFitInAHead() {
        assertEquals(List.of(), overTheLimit(sizes(file -> true, text -> (int) text.lines().count()), MOST_LINES,
                LONG_FILES, "lines"));
    }

    @Test
    void shouldKeepPackagesThatFitInAHead() {
        Map<String, Integer> files = new TreeMap<>();
        mainSources().forEach(file -> files.merge(packageOf(file), 1, Integer::sum));
        assertEquals(List.of(), overTheLimit(files, MOST_FILES, LARGE_PACKAGES, "files"));
    }

    @Test
    void shouldImportOnlySoMuch() {
        assertEquals(List.of(), overTheLimit(
                sizes(SourceTree::isMain, text -> (int) IMPORT.matcher(text).results().count()), MOST_IMPORTS,
                MANY_IMPORTS, "imports"));
    }

    @Test
    void shouldHaveConstructorsThatCanBeReadWithoutCounting() {
        Map<String, Integer> components = new TreeMap<>();
        mainSources().forEach(file -> {
            String text = COMMENT.matcher(SourceTree.TEXTS.get(file)).replaceAll("");
            Matcher parameters = PARAMETERS.matcher(text);
            while (parameters.find()) {
                String type = parameters.group(1) == null ? parameters.group(2) : parameters.group(1);
                components.merge(packageOf(file) + "." + type, parameters(text, parameters.end()), Math::max);
            }
        });
        assertTrue(components.size() > 1000, "the test sees only " + components.size() + " constructors");
        assertEquals(List.of(), overTheLimit(components, MOST_COMPONENTS, MANY_COMPONENTS, "components"));
    }

    @Test
    void shouldKeepLargeFilesOutOfTheRepository() throws IOException {
        List<String> wrong = new ArrayList<>();
        for (Path file : SourceTree.FILES) {
            String name = SourceTree.ROOT.relativize(file).toString();
            if (!name.startsWith("runs/") && Files.isRegularFile(file) && Files.size(file) > MOST_BYTES
                    && LARGE_FILES.keySet().stream().noneMatch(name::startsWith)) {
                wrong.add(name + " has " + Files.size(file) + " bytes, at most " + MOST_BYTES
                        + ": let a test make it, or give its reason here");
            }
        }
        assertEquals(List.of(), wrong);
        LARGE_FILES.keySet().forEach(name -> assertTrue(Files.exists(SourceTree.ROOT.resolve(name)), name));
    }

    /** The parameters after an opening parenthesis to the one that closes it. */
    private static int parameters(String text, int start) {
        int depth = 0;
        int commas = 0;
        for (int i = start; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '(' || c == '<' || c == '{') {
                depth++;
            } else if (c == ')' && depth == 0) {
                return text.substring(start, i).isBlank() ? 0 : commas + 1;
            } else if (c == ')' || c == '>' || c == '}') {
                depth--;
            } else if (c == ',' && depth == 0) {
                commas++;
            }
        }
        throw new AssertionError("no parenthesis closes " + text.substring(start, Math.min(text.length(), start + 40)));
    }

    /** What is over a limit and over what the list grants, and the entries of the list that grant too much. */
    private static List<String> overTheLimit(Map<String, Integer> sizes, int limit, Map<String, Integer> granted,
            String unit) {
        List<String> wrong = new ArrayList<>();
        sizes.forEach((name, size) -> {
            int most = Math.max(limit, granted.getOrDefault(name, 0));
            if (size > most) {
                wrong.add(
                        name + " has " + size + " " + unit + ", at most " + most + ": look for the second idea in it");
            }
        });
        granted.forEach((name, most) -> {
            int size = sizes.getOrDefault(name, 0);
            if (size <= limit) {
                wrong.add(name + " needs no exception any more: take it off the list");
            } else if (size < most) {
                wrong.add(name + " has only " + size + " " + unit + " now: its exception can shrink");
            }
        });
        return wrong;
    }

    private static Map<String, Integer> sizes(Predicate<Path> which,
            ToIntFunction<String> size) {
        Map<String, Integer> sizes = new TreeMap<>();
        SourceTree.TEXTS.forEach((file, text) -> {
            if (which.test(file)) {
                sizes.put(SourceTree.ROOT.relativize(file).toString(), size.applyAsInt(text));
            }
        });
        return sizes;
    }

    private static Stream<Path> mainSources() {
        return SourceTree.TEXTS.keySet().stream().filter(SourceTree::isMain);
    }

    private static String packageOf(Path file) {
        Matcher declared = PACKAGE.matcher(SourceTree.TEXTS.get(file));
        assertTrue(declared.find(), file + " is in no package");
        return declared.group(1);
    }
}
