package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.stop.ExitCode;
import dev.troupe.config.Key;
import dev.troupe.config.Keys;
import dev.troupe.schedule.family.Schedules;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Links, commands, keys, classes and drawings in the documents: each exists, and a drawing is what its command prints. */
@Tag("runtime")
class PagesTest {
    private static final int WIDEST_LINE = 125;
    private static final int LARGEST_README = 8_000;
    /** Pages that name classes as a way into the code. */
    private static final List<String> OF_CLASSES = List.of("docs/architecture.md", "docs/recovery-protocol.md",
            "docs/add-a-family.md");
    private static final Pattern CLASS = Pattern
            .compile("`([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*)((?:\\.\\w+)*)(?:\\(\\))?`");
    private static final Pattern DECLARATION = Pattern.compile("\\b(?:class|record|interface|enum) ([A-Z]\\w*)");
    private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");
    private static final Pattern CELL_OF_PACKAGES = Pattern.compile("`([a-z][a-z.]*)`");
    private static final Pattern UNUSUAL = Pattern
            .compile("(?i)\\b(?:behind|beside|whose|stands|under way|in turns|by turns"
                    + "|goes on|went on|what of)\\b");
    private static final Pattern OF_A_RUN = Pattern
            .compile("\\.\\.\\.|[,:;\"]| expected |^expected | found |\\d[\\w:.-]*"
                    + "|\\b[ab]\\b|/\\S+|\\w+-\\d|[a-z]+\\.[a-z]\\S*");
    private static final int LONG_PART = 14;
    /** Parts of messages that a program composes, or that Pekko writes. */
    private static final Set<String> COMPOSED = Set.of("none for ranks", "ended by signal",
            "Failed to deserialize message");
    private static final Pattern SHOWN = Pattern.compile("(?m)^\\$? ?\\./troupe (schedule [^\n]*)\n");

    static List<Path> guides() {
        return Pages.guides();
    }

    static List<Path> pages() {
        return Pages.all();
    }

    static List<Path> withRecords() {
        return Stream.concat(pages().stream(), Pages.records().stream()).toList();
    }

    @Test
    void shouldFindPages() {
        assertTrue(pages().size() > 30, pages().toString());
    }

    @Test
    void shouldHaveAShortReadme() {
        int length = Pages.text(Pages.README).length();
        assertTrue(length <= LARGEST_README, "README.md has " + length + " characters; a page below docs has room");
    }

    @Test
    void shouldListEveryPageOfDocs() {
        String list = Pages.text("docs/README.md");
        assertEquals(List.of(), guides().stream().filter(page -> page.getParent().endsWith("docs"))
                .map(page -> page.getFileName().toString())
                .filter(name -> !name.equals("README.md") && !list.contains("(" + name + ")")).toList());
    }

    /** Tables and fences have lines of any length. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("guides")
    void shouldHaveLinesThatAnEditorShowsWhole(Path page) {
        String prose = Pattern.compile("(?ms)^ *```.*?^ *```$").matcher(Pages.text(page)).replaceAll("");
        assertEquals(List.of(),
                prose.lines().filter(line -> line.length() > WIDEST_LINE && !line.startsWith("|")).toList());
    }

    /** Words of which CONTRIBUTING names a plainer one. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("guides")
    void shouldUseTheUsualWords(Path page) {
        String prose = Pattern.compile("(?ms)^ *```.*?^ *```$|`[^`]*`|\"[^\"]*\"").matcher(Pages.text(page))
                .replaceAll("");
        assertEquals(List.of(), UNUSUAL.matcher(prose).results().map(MatchResult::group).distinct().toList());
    }

    /** Links to files and to headings. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("withRecords")
    void shouldLinkToFilesAndHeadingsThatExist(Path page) {
        List<String> broken = new ArrayList<>();
        Pattern.compile("]\\(([^)\\s]+)\\)").matcher(Pages.text(page)).results().map(found -> found.group(1))
                .filter(link -> !link.matches("(https?|mailto):.*")).forEach(link -> {
                    String[] parts = link.split("#", 2);
                    Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]).normalize();
                    if (!Files.exists(target) || parts.length > 1 && !headings(target).contains(parts[1])) {
                        broken.add(link);
                    }
                });
        assertEquals(List.of(), broken);
    }

    private static Set<String> headings(Path page) {
        return Pages.text(page).lines().filter(line -> line.matches("#+ .*"))
                .map(line -> line.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .replace(' ', '-'))
                .collect(Collectors.toSet());
    }

    /** Options and subcommands; a value in capitals is a placeholder. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("pages")
    void shouldWriteCommandsThatExist(Path page) {
        CommandLine line = Troupe.commandLine();
        List<String> wrong = new ArrayList<>();
        Pattern.compile("(?m)(?:^ *(?:[a-z0-9-]+)?\\$? ?|`)(?:\\./)?troupe ([a-z][^`\\n]*)").matcher(Pages.text(page))
                .results()
                .map(found -> found.group(1).replaceFirst("(\\s#|[|&>;\\\\)]|\\.\\.\\.|\\[).*", "").strip())
                .filter(command -> line.getSubcommands().containsKey(command.split("[^a-z]")[0]))
                .forEach(command -> {
                    try {
                        line.parseArgs(Pages.words(command).toArray(String[]::new));
                    } catch (ParameterException refused) {
                        if (!refused.getMessage().startsWith("Missing required")) { // a sentence about the command
                            wrong.add(command + ": " + refused.getMessage());
                        }
                    }
                });
        assertEquals(List.of(), wrong);
    }

    /** Keys in spans of code, and of {@code -s}: each is a key or a section, or the beginning of one. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("pages")
    void shouldNameKeysThatExist(Path page) {
        Set<String> keys = new Keys().all().stream().map(Key::path).collect(Collectors.toSet());
        String sections = keys.stream().filter(key -> key.contains(".")).map(key -> key.split("[.\\[]")[0]).distinct()
                .collect(Collectors.joining("|"));
        List<String> unknown = Stream.concat(
                Pattern.compile("-s ([a-z][a-z.-]*)=").matcher(Pages.text(page)).results(),
                Pattern.compile("`((?:" + sections + ")\\.[a-z][a-z.-]*)(?: = [^`]*|=[^`]*)?`")
                        .matcher(Pages.text(page)).results())
                .map(found -> found.group(1)).distinct()
                .filter(name -> keys.stream().noneMatch(key -> key.equals(name) || key.startsWith(name + ".")))
                .filter(name -> !name.matches("model\\.(gguf|safetensors)|training\\.log|key"))
                .filter(name -> !SourceTree.hasPackage("dev.troupe." + name)).toList();
        assertEquals(List.of(), unknown);
    }

    /** A class by its name, and the members that follow it after a point. */
    @Test
    void shouldNameClassesThatExist() {
        Map<String, String> sources = new HashMap<>(); // of each type the text of the file that declares it
        SourceTree.TEXTS.values().forEach(text -> DECLARATION.matcher(text).results()
                .forEach(found -> sources.merge(found.group(1), text, String::concat)));
        Stream<String> texts = Stream.concat(OF_CLASSES.stream().map(Pages::text), glossaryClasses());
        assertEquals(List.of(), texts.flatMap(text -> CLASS.matcher(text).results()).filter(
                found -> !sources.containsKey(found.group(1))
                        || !hasMembers(sources.get(found.group(1)), found.group(2)))
                .map(MatchResult::group).distinct().toList());
    }

    private static boolean hasMembers(String source, String members) {
        return Stream.of(members.split("\\.")).filter(member -> !member.isEmpty())
                .allMatch(member -> Pattern.compile("\\b" + member + "\\b").matcher(source).find());
    }

    /** The last cell of a row of the paths through the code has the packages of the classes in the cell before it. */
    @Test
    void shouldFindTheClassesOfAPathInItsPackages() {
        Map<String, List<String>> packages = new HashMap<>(); // of each type, the packages that declare one of its name
        SourceTree.TEXTS.values().forEach(text -> PACKAGE.matcher(text).results().findFirst()
                .ifPresent(home -> DECLARATION.matcher(text).results().forEach(found -> packages
                        .computeIfAbsent(found.group(1), _ -> new ArrayList<>()).add(home.group(1)))));
        String page = Pages.text("docs/architecture.md");
        List<String> wrong = new ArrayList<>();
        int rows = 0;
        for (String row : page.substring(page.indexOf("## The path"), page.indexOf("## Three dimensions")).lines()
                .filter(line -> line.startsWith("| ")).toList()) {
            String[] cells = row.split(" \\| ?");
            List<String> homes = CELL_OF_PACKAGES.matcher(cells[cells.length - 1]).results()
                    .map(found -> "dev.troupe." + found.group(1)).toList();
            CLASS.matcher(cells[cells.length - 2]).results().filter(
                    found -> packages.getOrDefault(found.group(1), List.of()).stream()
                            .noneMatch(homes::contains))
                    .forEach(found -> wrong.add(found.group() + " is not in " + homes));
            rows += homes.isEmpty() ? 0 : 1;
        }
        assertEquals(List.of(), wrong);
        assertTrue(rows > 40, rows + " rows");
    }

    private static Stream<String> glossaryClasses() {
        return glossary().map(row -> row[2]);
    }

    /** The rows of the glossary: term, meaning, class, name in other systems. */
    private static Stream<String[]> glossary() {
        return Pages.text("docs/glossary.md").lines().filter(line -> line.matches("\\| (?!term \\|).*"))
                .map(line -> line.substring(1).split(" \\|"));
    }

    @Test
    void shouldDefineEachTermOnce() {
        Set<String> terms = new HashSet<>();
        assertEquals(List.of(), glossary().flatMap(row -> Stream.of(row[0].strip().split(", ")))
                .filter(term -> !terms.add(term)).toList());
    }

    /** The parts of each message that no name, number or path of a run interrupts. */
    @Test
    void shouldQuoteMessagesThatTheSourcesHave() {
        String sources = SourceTree.TEXTS.entrySet().stream().filter(source -> SourceTree.isMain(source.getKey()))
                .map(source -> source.getValue().replaceAll("\"\\s*\\+\\s*\"", "")).collect(Collectors.joining());
        List<String> parts = Pages.text("docs/errors.md").lines().filter(line -> line.startsWith("| `"))
                .flatMap(line -> Pattern.compile("`([^`]+)`").matcher(line.split(" \\| ")[0]).results())
                .flatMap(message -> OF_A_RUN.splitAsStream(message.group(1))).map(String::strip)
                .filter(part -> part.length() >= LONG_PART && !COMPOSED.contains(part)).toList();
        assertTrue(parts.size() > 25, parts.toString());
        assertEquals(List.of(), parts.stream().filter(part -> !sources.contains(part)).toList());
    }

    /** In the fence of the command, or in the next one. */
    @Test
    void shouldShowThePlansThatTheCommandDraws() {
        int drawings = 0;
        for (Path page : Pages.guides()) {
            List<MatchResult> fences = Pages.fences(page);
            for (int i = 0; i < fences.size(); i++) {
                MatchResult command = SHOWN.matcher(fences.get(i).group(1)).results().findFirst().orElse(null);
                if (command == null) {
                    continue;
                }
                List<String> words = Pages.words(command.group(1));
                String after = fences.get(i).group(1).substring(command.end());
                boolean isApart = after.isEmpty() && i + 1 < fences.size()
                        && fences.get(i + 1).start() - fences.get(i).end() <= 2;
                String shown = isApart ? fences.get(i + 1).group(1) : after;
                if (shown.startsWith(words.get(1) + ": ") && Schedules.ofTraining().contains(words.get(1))) {
                    assertShown(page, command.group(1), shown);
                    drawings++;
                }
            }
        }
        assertTrue(drawings >= 8, drawings + " drawings");
    }

    /** A line of three dots is for lines that the page leaves out. */
    private static void assertShown(Path page, String command, String shown) {
        Door door = Door.call(Pages.words(command).toArray(String[]::new));
        assertEquals(ExitCode.DONE, door.exitCode(), door.refusal());
        int from = 0;
        for (String part : shown.stripTrailing().split("(?m)^\\.\\.\\.\n")) {
            int at = door.output().indexOf(part, from);
            assertTrue(at >= 0, page + " shows for " + command + "\n" + part + "\nbut it prints\n" + door.output());
            from = at + part.length();
        }
    }
}
