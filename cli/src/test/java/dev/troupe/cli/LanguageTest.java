package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The words that comments, names of tests and strings do without. Sources that still have some are in a list, with their
 * number in each package. The list only shrinks: a module fails with more than the sum of its packages, so that a class may
 * move within it, and {@code -Dtroupe.language.lower=true} lowers the list to the numbers of today.
 */
@Tag("plan")
class LanguageTest {
    private static final Path LIST = Path.of("src/test/resources/language/exceptions.txt");
    private static final String LOWER = "troupe.language.lower";

    private static final Map<Pattern, String> INSTEAD = Map.ofEntries(
            word("(?<!@param )where (?=(there|none|no|nothing|neither|not|all|some|any|it is|it has|it can|they are|"
                    + "they have|one is|an?|the|that|each|every|only|several|two)\\b)", "if or when for a condition"),
            word("whose\\b", "a second sentence, or with"),
            word("(those|that) of\\b", "the noun again"),
            word("what of\\b", "the noun: share, rest, contents"),
            word("(tells?|told|telling)\\b", "report, notify, distinguish"),
            word("(says?|said|hears?|heard)\\b", "name, return, log, receive"),
            word("(behind|besides?)\\b", "after, next to, in addition to"),
            word("under way\\b", "in progress, in flight"),
            word("(by|in) turns\\b", "alternately, interleaved"),
            word("(as|so) (many|much) as\\b", "the same number of, up to"),
            word("stands\\b", "is complete, is ready"),
            word("(go|goes|gone|going|went) on\\b", "continue, resume"));
    private static final Pattern COMMENT_LINE = Pattern.compile("\\s*(?:/\\*+|\\*/|\\*|//)(.*)");
    private static final Pattern TEST_NAME = Pattern.compile("\\bvoid (should\\w+)");
    private static final Pattern STRING = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*+)\"");
    private static final Pattern HUMP = Pattern.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])");
    /** The comment of a class that begins with a question instead of a noun. */
    private static final Pattern QUESTION = Pattern.compile(
            "/\\*\\*[\\s*]*(?:What|Where|Who|Whose|Which|How|When|Whether)\\b(?:[^*]|\\*(?!/))*+\\*/\\s*+"
                    + "(?:@\\w+(?:\\([^)]*\\))?\\s*+)*+"
                    + "(?:(?:public|private|protected|abstract|final|static|sealed|non-sealed)\\s+)*+"
                    + "(?:class|record|interface|enum|@interface|package)\\b");

    @Test
    void shouldWriteInTheWordsOfTheField() throws IOException {
        Map<String, List<String>> found = new TreeMap<>();
        SourceTree.TEXTS.forEach((file, text) -> {
            if (!file.endsWith("LanguageTest.java")) {
                search(file, text, hit -> found
                        .computeIfAbsent(SourceTree.ROOT.relativize(file.getParent()).toString(),
                                folder -> new ArrayList<>())
                        .add(SourceTree.ROOT.relativize(file) + hit));
            }
        });
        Map<String, Integer> listed = listed();
        Map<String, Integer> left = new TreeMap<>();
        listed.forEach((folder, most) -> left.merge(module(folder), most, Integer::sum));
        found.forEach((folder, hits) -> left.merge(module(folder), -hits.size(), Integer::sum));
        List<String> wrong = new ArrayList<>();
        found.forEach((folder, hits) -> {
            if (left.get(module(folder)) < 0 && hits.size() > listed.getOrDefault(folder, 0)) {
                wrong.add(folder + " has " + hits.size() + ", at most " + listed.getOrDefault(folder, 0) + " in "
                        + LIST.getFileName() + ":\n  " + String.join("\n  ", hits));
            }
        });
        assertEquals("", String.join("\n", wrong), "write what each line ends with; the list grants no more");
        if (Boolean.getBoolean(LOWER)) {
            Files.write(LIST, found.entrySet().stream()
                    .map(folder -> folder.getKey() + " " + folder.getValue().size()).toList());
        }
    }

    /** Calls back with the line, the word and its replacement for each hit in a source. */
    private static void search(Path file, String text, Consumer<String> hits) {
        List<String> lines = text.lines().toList();
        StringBuilder comment = new StringBuilder();
        int begin = 1;
        for (int i = 0; i <= lines.size(); i++) {
            Matcher line = COMMENT_LINE.matcher(i < lines.size() ? lines.get(i) : "");
            if (line.matches()) {
                begin = comment.isEmpty() ? i + 1 : begin;
                comment.append(' ').append(line.group(1).strip());
                continue;
            }
            judge(begin, comment.toString(), hits);
            comment.setLength(0);
            if (i < lines.size()) {
                int at = i + 1;
                TEST_NAME.matcher(lines.get(i)).results().forEach(name -> judge(at,
                        HUMP.matcher(name.group(1)).replaceAll(" ").toLowerCase(Locale.ROOT), hits));
                if (SourceTree.isMain(file)) {
                    STRING.matcher(lines.get(i)).results().forEach(string -> judge(at, string.group(1), hits));
                }
            }
        }
        QUESTION.matcher(text).results().forEach(question -> hits.accept(
                ":" + (1 + text.substring(0, question.start()).lines().count())
                        + " begins a class with a question: write a noun phrase"));
    }

    private static void judge(int line, String text, Consumer<String> hits) {
        INSTEAD.forEach((word, instead) -> word.matcher(text).results().forEach(
                hit -> hits.accept(":" + line + " has \"" + hit.group().strip() + "\": write " + instead)));
    }

    private static Map<String, Integer> listed() throws IOException {
        Map<String, Integer> listed = new TreeMap<>();
        Files.readAllLines(LIST).forEach(line -> {
            int space = line.indexOf(' ');
            listed.put(line.substring(0, space), Integer.valueOf(line.substring(space + 1)));
        });
        return listed;
    }

    /** The path up to the sources, or the first folder if there is no such. */
    private static String module(String folder) {
        int sources = folder.indexOf("/src/");
        return sources < 0 ? folder.split("/")[0] : folder.substring(0, sources);
    }

    private static Map.Entry<Pattern, String> word(String expression, String instead) {
        return Map.entry(Pattern.compile("\\b" + expression), instead);
    }
}
