package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The imports of the packages of the main sources: they form no circle, and each {@code package-info.java} lists them, no
 * more and no less.
 */
@Tag("plan")
class PackageTest {
    private static final Pattern PACKAGE = Pattern.compile("^package ([\\w.]+);", Pattern.MULTILINE);
    private static final Pattern IMPORT = Pattern.compile("^import (?:static )?([\\w.]+)", Pattern.MULTILINE);
    /** Comments, text blocks and strings. */
    private static final Pattern NOT_CODE = Pattern.compile(
            "(?s)/\\*.*?\\*/|//[^\n]*|\"\"\".*?\"\"\"|\"[^\"\\\\\n]*+(?:\\\\.[^\"\\\\\n]*+)*+\"");
    private static final Pattern TROUPE = Pattern.compile("(dev\\.troupe[a-z0-9_.]*?)\\.[A-Z].*");
    private static final Pattern SAID = Pattern.compile("(?s).*<p>(Imports .*?\\.) \\*/.*");

    /** The libraries that a package says it imports, by the start of their packages; the JDK is everybody's. */
    private static final List<String> LIBRARIES = List.of("com.fasterxml.jackson", "com.knuddels.jtokkit",
            "com.typesafe.config", "dev.hardwood", "io.aeron", "io.micrometer",
            "io.opentelemetry",
            "org.agrona",
            "org.apache.pekko",
            "org.bytedeco", "org.junit", "org.opentest4j",
            "org.nd4j", "org.openjdk.jmh", "org.openqa.selenium", "org.slf4j", "picocli", "scala");
    /** A class by its full name, where code uses it without an import. */
    private static final Pattern FULL_NAME = Pattern.compile("(?<![\\w.])((?:dev\\.troupe|"
            + String.join("|", LIBRARIES).replace(".", "\\.") + ")(?:\\.[a-z0-9_]+)*\\.[A-Z]\\w*)");
    private static final Pattern JDK = Pattern
            .compile("(java|javax|jdk|com\\.sun\\.(?:management|net\\.httpserver))\\..*");

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
    void shouldImportWhatThePackageSays() {
        List<String> wrong = new ArrayList<>();
        IMPORTS.forEach((name, imported) -> {
            String expected = sentence(imported);
            if (!said(name).equals(Optional.of(expected))) {
                wrong.add(name + " must say: " + expected);
            }
        });
        assertEquals(List.of(), wrong);
    }

    @Test
    void shouldSeeThePackagesThatItJudges() {
        assertTrue(IMPORTS.size() > 30, "the test looks in the wrong place: " + SourceTree.ROOT);
        assertTrue(IMPORTS.get("dev.troupe.compare").contains("dev.troupe.schedule"), "it sees no import");
    }

    private static String sentence(Set<String> imported) {
        List<String> names = new ArrayList<>();
        names.add("the JDK");
        Stream.concat(imported.stream().filter(PackageTest::isTroupe),
                imported.stream().filter(name -> !isTroupe(name)))
                .forEach(name -> names.add("{@code " + name + "}"));
        String last = names.removeLast();
        return "Imports " + (names.isEmpty() ? last : String.join(", ", names) + " and " + last) + ".";
    }

    private static boolean isTroupe(String name) {
        return name.startsWith("dev.troupe");
    }

    /** The sentence of a package about its imports, on one line; empty where it has none. */
    private static Optional<String> said(String name) {
        String info = TEXTS.entrySet().stream().filter(file -> file.getKey().endsWith("package-info.java"))
                .map(Map.Entry::getValue).filter(text -> packageOf(text).equals(name)).findFirst()
                .orElseThrow(() -> new AssertionError(name + " has no package-info.java"));
        Matcher sentence = SAID.matcher(info.replaceAll("\\s+\\*(?!/)\\s*|\\s+", " "));
        return sentence.matches() ? Optional.of(sentence.group(1)) : Optional.empty();
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
