package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The rules of the house that a program can hold, over every source of every module. */
@Tag("plan")
class TidyTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final int LONGEST_FILE = 450;

    /** What each folder of sources may import of the house and of the libraries that only some may know. */
    private static final Map<String, List<String>> ARROWS = Map.of(
            "schedules", List.of("dev.troupe.schedule"),
            "engines/api", List.of("dev.troupe.engine"),
            "engines/reference", List.of("dev.troupe.engine"),
            "engines/emulated", List.of("dev.troupe.engine"),
            "engines/nd4j", List.of("dev.troupe.engine", "org.nd4j", "org.bytedeco"),
            "engines/cpu", List.of("dev.troupe.engine", "org.bytedeco"),
            "stages", List.of("dev.troupe.engine", "dev.troupe.model", "dev.troupe.parallel", "dev.troupe.weights",
                    "dev.troupe.data"),
            "cluster-config", List.of("dev.troupe.config", "com.typesafe"),
            "runtime", List.of("dev.troupe", "org.apache.pekko", "io.aeron", "org.agrona", "com.typesafe"),
            "cli", List.of("dev.troupe"));
    private static final Pattern GUARDED_IMPORT = Pattern.compile(
            "^import (?:static )?((?:dev\\.troupe|org\\.apache\\.pekko|io\\.aeron|org\\.agrona|org\\.nd4j|org\\.bytedeco|com\\.typesafe)[\\w.]*)",
            Pattern.MULTILINE);

    /** Calls that are not made, with what to write in their place. */
    private static final Map<String, String> BANNED = new TreeMap<>(Map.of(
            "Thread.sleep(", "wait for a condition, with a bound",
            "printStackTrace(", "say it in one sentence, or log it",
            "System.gc(", "close what holds memory",
            "@Disabled", "a test that runs, or none"));
    private static final Pattern LEFTOVER = Pattern.compile("\\b(TODO|FIXME|XXX|HACK)\\b");

    @Test
    void shouldPointArrowsTheWayTheHouseHasThem() {
        List<String> wrong = new ArrayList<>();
        ARROWS.forEach((module, allowed) -> sources(ROOT.resolve(module).resolve("src/main")).forEach(file -> {
            Matcher imports = GUARDED_IMPORT.matcher(read(file));
            while (imports.find()) {
                String imported = imports.group(1);
                if (allowed.stream().noneMatch(imported::startsWith)) {
                    wrong.add(ROOT.relativize(file) + " imports " + imported);
                }
            }
        }));
        assertEquals(List.of(), wrong);
    }

    @Test
    void shouldKeepPekkoOutOfTheMiddle() {
        List<String> wrong = sources(ROOT.resolve("runtime/src/main"))
                .filter(file -> !file.toString().contains("dev/troupe/actor/")
                        && !file.toString().contains("dev/troupe/run/")
                        && !file.toString().contains("dev/troupe/cluster/"))
                .filter(file -> read(file).contains("import org.apache.pekko.")).map(Path::toString).toList();
        assertEquals(List.of(), wrong,
                "actors live in dev.troupe.actor; dev.troupe.run and dev.troupe.cluster start them");
    }

    @Test
    void shouldMakeNoBannedCallAndLeaveNoMark() {
        List<String> wrong = new ArrayList<>();
        sources(ROOT).filter(file -> !file.endsWith("TidyTest.java")).forEach(file -> {
            String text = read(file);
            BANNED.forEach((call, instead) -> {
                if (text.contains(call)) {
                    wrong.add(ROOT.relativize(file) + " has " + call + ": " + instead);
                }
            });
            Matcher mark = LEFTOVER.matcher(text);
            if (mark.find()) {
                wrong.add(ROOT.relativize(file) + " has the mark " + mark.group());
            }
        });
        assertEquals(List.of(), wrong);
    }

    @Test
    void shouldKeepFilesThatFitInAHead() {
        assertEquals(List.of(), sources(ROOT).filter(file -> read(file).lines().count() > LONGEST_FILE)
                .map(file -> ROOT.relativize(file).toString()).toList());
    }

    @Test
    void shouldSayOfEveryPackageWhatLivesThere() {
        assertEquals(List.of(),
                sources(ROOT).filter(file -> file.toString().contains("/src/main/")).map(Path::getParent)
                        .distinct().filter(folder -> !Files.exists(folder.resolve("package-info.java")))
                        .map(folder -> ROOT.relativize(folder).toString()).toList());
    }

    @Test
    void shouldSeeTheSourcesItJudges() {
        assertTrue(sources(ROOT).count() > 100, "the tidy test looks in the wrong place: " + ROOT);
        ARROWS.keySet().forEach(module -> assertFalse(
                sources(ROOT.resolve(module).resolve("src/main")).toList().isEmpty(), module));
    }

    private static Stream<Path> sources(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> !ROOT.relativize(file).toString().contains("target/")).toList().stream();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
