package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The imports of the packages of the main sources: they form no circle, and a package imports nothing that it may not. */
@Tag("plan")
class PackageTest {
    private static final Pattern PACKAGE = Pattern.compile("^package ([\\w.]+);", Pattern.MULTILINE);
    private static final Pattern IMPORT = Pattern.compile("^import (?:static )?([\\w.]+)", Pattern.MULTILINE);
    /** Comments, text blocks and strings. */
    private static final Pattern NOT_CODE = Pattern.compile(
            "(?s)/\\*.*?\\*/|//[^\n]*|\"\"\".*?\"\"\"|\"[^\"\\\\\n]*+(?:\\\\.[^\"\\\\\n]*+)*+\"");
    private static final Pattern TROUPE = Pattern.compile("(dev\\.troupe[a-z0-9_.]*?)\\.[A-Z].*");

    /** The libraries that packages import, by the start of their packages; the JDK is everybody's. */
    private static final List<String> LIBRARIES = List.of("com.fasterxml.jackson", "com.knuddels.jtokkit",
            "com.typesafe.config", "dev.hardwood", "dev.langchain4j", "io.aeron", "io.micrometer",
            "io.opentelemetry",
            "org.agrona",
            "org.apache.pekko",
            "org.bytedeco", "org.jspecify", "org.junit", "org.opentest4j",
            "org.nd4j", "org.openjdk.jmh", "org.openqa.selenium", "org.slf4j", "org.springframework", "picocli",
            "reactor", "scala");
    /** A class by its full name, which code uses without an import. */
    private static final Pattern FULL_NAME = Pattern.compile("(?<![\\w.])((?:dev\\.troupe|"
            + String.join("|", LIBRARIES).replace(".", "\\.") + ")(?:\\.[a-z0-9_]+)*\\.[A-Z]\\w*)");
    private static final Pattern JDK = Pattern
            .compile("(java|javax|jdk|com\\.sun\\.(?:management|net\\.httpserver))\\..*");

    /**
     * A rule: packages that match one pattern do not import packages that match the other.
     *
     * @param reason why, for the author of such an import
     */
    private record MayNot(Pattern from, Pattern to, String reason) {
        MayNot(String from, String to, String reason) {
            this(Pattern.compile("dev\\.troupe\\.(?:" + from + ")"), Pattern.compile("dev\\.troupe\\.(?:" + to + ")"),
                    reason);
        }

        boolean forbids(String importing, String imported) {
            return from.matcher(importing).matches() && to.matcher(imported).matches();
        }
    }

    /** The rooms of the runtime from the lowest to the highest, and the edges of rooms below. */
    private static final List<MayNot> RULES = List.of(
            new MayNot("plan(?:\\..*)?", "(?:rank|run|look)(?:\\..*)?",
                    "a plan is made before there is a rank, and a planner stops there"),
            new MayNot("rank(?:\\..*)?", "(?:run|look)(?:\\..*)?", "a rank knows neither actors nor observers"),
            new MayNot("run(?:\\..*)?", "look(?:\\..*)?",
                    "a run reports news to its listener, and knows nobody who looks at it"),
            new MayNot("run\\.(?:actor|setup)", "run(?:\\.cluster.*)?", "actors are started by a run"),
            new MayNot("run", "run\\.cluster.*", "a cluster is a run, not the other way"),
            new MayNot("look\\.(?!compare|replay).*", "(?:rank|run|run\\.(?:actor|setup)|run\\.cluster.*)",
                    "a reader of a run receives news, and reads files"),
            new MayNot("transport|collective|snapshot\\.copy", ".*\\.(?:link|peer|stream|way|tcp|device|driver|shared)",
                    "an interface of the wire knows no carrier"),
            new MayNot("(?!transport|collective|snapshot|rank\\.group|run|bench).*",
                    "(?:transport\\.link|collective\\.peer|snapshot\\.stream)",
                    "one place chooses the carrier"),
            new MayNot("layer.*",
                    "(?:model(?!\\.spec)|weights|data|rows|batch|stage|shard|optimizer|generate|config).*",
                    "a layer computes, and knows neither files nor stages"),
            new MayNot("stage|shard|optimizer|partition", "(?:data|rows|tokenizer|chat|generate|config).*",
                    "a stage gets its rows and weights from outside"));
    /** Imports that break a rule; the list only shrinks. */
    private static final Set<String> EXCEPTIONS = Set.of("dev.troupe.cli -> dev.troupe.transport.link",
            "dev.troupe.plan.memory -> dev.troupe.rank.snapshot");

    private static final Map<Path, String> TEXTS = SourceTree.TEXTS.entrySet().stream()
            .filter(file -> SourceTree.isMain(file.getKey()))
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, (one, _) -> one, TreeMap::new));
    private static final Map<String, Set<String>> IMPORTS = imports();

    @Test
    void shouldImportInNoCircle() {
        Map<String, Set<String>> left = new TreeMap<>();
        IMPORTS.forEach((from, to) -> left.put(from, new TreeSet<>(to)));
        boolean shrinks = true;
        while (shrinks) {
            Set<String> leaves = left.keySet().stream()
                    .filter(from -> left.get(from).stream().noneMatch(left::containsKey)).collect(Collectors.toSet());
            shrinks = left.keySet().removeAll(leaves);
        }
        left.values().forEach(to -> to.retainAll(left.keySet()));
        assertEquals(Map.of(), left, "packages that import each other, and what leads to them");
    }

    @Test
    void shouldImportNothingThatAPackageMayNot() {
        List<String> wrong = new ArrayList<>();
        Set<String> needed = new TreeSet<>();
        for (MayNot rule : RULES) {
            IMPORTS.forEach((from, imported) -> imported.stream().filter(to -> rule.forbids(from, to)).forEach(to -> {
                if (EXCEPTIONS.contains(from + " -> " + to)) {
                    needed.add(from + " -> " + to);
                } else {
                    wrong.add(from + " may not import " + to + ": " + rule.reason());
                }
            }));
        }
        assertEquals(List.of(), wrong);
        assertEquals(new TreeSet<>(EXCEPTIONS), needed, "exceptions that are no longer needed must go");
    }

    /** A rule that matches no package judges nothing. */
    @Test
    void shouldHaveRulesForPackagesThatExist() {
        for (MayNot rule : RULES) {
            assertTrue(IMPORTS.keySet().stream().anyMatch(name -> rule.from().matcher(name).matches()), rule.reason());
            assertTrue(IMPORTS.keySet().stream().anyMatch(name -> rule.to().matcher(name).matches()), rule.reason());
        }
    }

    @Test
    void shouldSeeThePackagesThatItJudges() {
        assertTrue(IMPORTS.size() > 30, "the test looks in the wrong place: " + SourceTree.ROOT);
        assertTrue(IMPORTS.get("dev.troupe.look.compare").contains("dev.troupe.schedule"), "it sees no import");
    }

    private static Map<String, Set<String>> imports() {
        Map<String, Set<String>> found = new TreeMap<>();
        TEXTS.values().forEach(text -> {
            Set<String> imported = found.computeIfAbsent(packageOf(text), _ -> new TreeSet<>());
            Stream.concat(IMPORT.matcher(text).results(),
                    FULL_NAME.matcher(NOT_CODE.matcher(text).replaceAll("")).results())
                    .map(match -> match.group(1)).filter(name -> !JDK.matcher(name).matches())
                    .map(PackageTest::importedPackage).filter(name -> !name.equals(packageOf(text)))
                    .forEach(imported::add);
        });
        return found;
    }

    private static String importedPackage(String name) {
        Matcher troupe = TROUPE.matcher(name);
        return troupe.matches()
                ? troupe.group(1)
                : LIBRARIES.stream().filter(library -> name.startsWith(library + ".")).findFirst()
                        .orElseThrow(() -> new AssertionError(name + " is of no library that this test knows"));
    }

    private static String packageOf(String text) {
        Matcher declared = PACKAGE.matcher(text);
        assertTrue(declared.find(), "no package in " + text);
        return declared.group(1);
    }
}
