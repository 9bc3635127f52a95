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
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The list in CONTRIBUTING.md of the tests of which a build leaves some out. With {@code -Dtroupe.rings.write=true} the test
 * writes the list anew.
 */
@Tag("plan")
class RingsTest {
    private static final Path PAGE = SourceTree.ROOT.resolve("CONTRIBUTING.md");
    private static final String BEGIN = "<!-- RingsTest: begin -->\n";
    private static final String END = "<!-- RingsTest: end -->\n";
    private static final int WIDTH = 120;
    private static final int MOST_SHARES = 5;

    private static final Pattern OF_CLASS = Pattern.compile("^@Tag\\(\"long\"\\)", Pattern.MULTILINE);
    private static final Pattern OF_METHOD = Pattern.compile("^ +@Tag\\(\"long\"\\)", Pattern.MULTILINE);
    private static final Pattern SHARES = Pattern
            .compile("@Dealt\\((\\w+)\\)|int (?:shares\\(\\) \\{\\s*return|SHARES =) (\\w+);");
    /** The test of the deal itself. */
    private static final String DEAL_TEST = "DealTest.java";

    @Test
    void shouldListTheTestsOfWhichABuildLeavesSomeOut() throws IOException {
        String page = Files.readString(PAGE);
        int begin = page.indexOf(BEGIN) + BEGIN.length();
        int end = page.indexOf(END);
        assertTrue(begin >= BEGIN.length() && end >= begin, PAGE + " has no place for the list");
        String list = list("shares", RingsTest::shares) + list("long", RingsTest::isLong);
        if (Boolean.getBoolean("troupe.rings.write")) {
            Files.writeString(PAGE, page.substring(0, begin) + list + page.substring(end));
            return;
        }
        assertEquals(list, page.substring(begin, end),
                "the list is old; -Dtroupe.rings.write=true with -Dtest=RingsTest writes it");
    }

    /** As many commits as shares run a test once, so more shares would let a defect stay for days. */
    @Test
    void shouldDealFewShares() {
        List<String> many = new ArrayList<>();
        SourceTree.TEXTS.forEach((file, text) -> {
            Matcher shares = SHARES.matcher(text);
            while (isTest(file) && shares.find()) {
                String number = shares.group(1) == null ? shares.group(2) : shares.group(1);
                if (Integer.parseInt(number) > MOST_SHARES) {
                    many.add(SourceTree.ROOT.relativize(file) + ": " + number);
                }
            }
        });
        assertEquals(List.of(), many);
    }

    private static boolean isTest(Path file) {
        return file.toString().contains("/src/test/") && !file.endsWith(DEAL_TEST);
    }

    private static String list(String kind, Function<String, String> of) {
        Map<String, List<String>> byModule = new TreeMap<>();
        SourceTree.TEXTS.forEach((file, text) -> {
            String mark = of.apply(text);
            if (isTest(file) && !mark.isEmpty()) {
                String module = SourceTree.ROOT.relativize(file).toString().replaceFirst("/src/test/.*", "");
                String name = file.getFileName().toString().replace(".java", "");
                byModule.computeIfAbsent(module, _ -> new ArrayList<>()).add("`" + name + "`" + mark);
            }
        });
        return byModule.entrySet().stream()
                .map(module -> wrapped("- `" + module.getKey() + "`, " + kind + ": "
                        + module.getValue().stream().sorted().collect(Collectors.joining(", "))))
                .collect(Collectors.joining());
    }

    /** The numbers of shares, or nothing. */
    private static String shares(String text) {
        String numbers = SHARES.matcher(text).results()
                .map(found -> found.group(1) == null ? found.group(2) : found.group(1)).distinct()
                .collect(Collectors.joining(" or "));
        return numbers.isEmpty() ? "" : " " + numbers;
    }

    /** A mark of a class that is long as a whole or in part; nothing if it is not. */
    private static String isLong(String text) {
        if (OF_CLASS.matcher(text).find()) {
            return " whole";
        }
        long methods = OF_METHOD.matcher(text).results().count();
        return methods == 0 ? "" : " " + methods;
    }

    private static String wrapped(String line) {
        StringBuilder text = new StringBuilder();
        int column = 0;
        for (String word : line.split(" ")) {
            if (column > 0 && column + 1 + word.length() > WIDTH) {
                text.append("\n  ");
                column = 2;
            } else if (column > 0) {
                text.append(' ');
                column++;
            }
            text.append(word);
            column += word.length();
        }
        return text.append('\n').toString();
    }
}
