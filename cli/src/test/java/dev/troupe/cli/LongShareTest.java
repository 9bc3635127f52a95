package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The script {@code .ci/long-share}, which counts a test as passed only if it ran; a script takes the place of Maven. */
@Tag("runtime")
@Timeout(120)
class LongShareTest {
    /** Prints and writes the report of Surefire for the class of the command. */
    private static final String MAVEN = """
            #!/usr/bin/env bash
            for word; do case $word in -Dtest=*) name=${word#-Dtest=} ;; esac; done
            reports=one/target/surefire-reports; mkdir -p $reports
            case $name in
              WholeTest) echo "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0" ;;
              PartTest#shouldRun)
                echo '<testcase name="shouldRun{int}[1]"/><testcase name="shouldRun{int}[2]"><skipped message="no &quot;GPU&quot;"/>' \\
                  | sed 's/></>\\n</g' > $reports/TEST-a.PartTest.xml
                echo "[WARNING] Tests run: 2, Failures: 0, Errors: 0, Skipped: 1" ;;
              NothingTest)
                echo '<testcase name="shouldBe"><skipped message="not quiet"/>' > $reports/TEST-a.NothingTest.xml
                echo "[WARNING] Tests run: 1, Failures: 0, Errors: 0, Skipped: 1" ;;
              WrongTest) echo "[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0"; exit 1 ;;
              GoneTest) echo "[INFO] No tests to run." ;;
            esac
            """;

    @TempDir
    private Path root;

    @BeforeEach
    void copy() throws Exception {
        Files.createDirectory(root.resolve(".ci"));
        Files.copy(Path.of("../.ci/long-share"), root.resolve(".ci/long-share"));
        Files.writeString(root.resolve("mvnw"), MAVEN);
        assertTrue(root.resolve("mvnw").toFile().setExecutable(true));
        assertEquals(0, start("git", "init", "-q").waitFor());
    }

    private void test(String name, String text) throws IOException {
        Files.writeString(Files.createDirectories(root.resolve("one/src/test/java/a")).resolve(name + ".java"), text);
    }

    private Process start(String... command) throws IOException {
        return new ProcessBuilder(command).directory(root.toFile()).redirectErrorStream(true)
                .redirectOutput(root.resolve("said").toFile()).start();
    }

    private List<String> share(int exitCode) throws Exception {
        assertEquals(0, start("git", "add", "one").waitFor());
        Process share = start("bash", ".ci/long-share", "7", "1");
        assertTrue(share.waitFor(60, TimeUnit.SECONDS));
        List<String> lines = Files.readAllLines(root.resolve("said"));
        assertEquals(exitCode, share.exitValue(), () -> String.join("\n", lines));
        return lines.stream().map(line -> line.replaceFirst(", \\d+ s:", ",")).toList();
    }

    @Test
    void shouldCountWhatRanAndNameWhatDidNot() throws Exception {
        for (String name : List.of("WholeTest", "NothingTest")) {
            test(name, "@Tag(\"long\")\nclass " + name);
        }
        test("PartTest", "class PartTest {\n    @Tag(\"long\")\n    @Test\n    void shouldRun(int size) {\n");
        test("QuickTest", "class QuickTest {\n    @Test\n    void shouldRun() {\n");
        List<String> lines = share(0);
        assertEquals("long tests: 3, seed 7, 1 minutes; again with: .ci/long-share 7 1", lines.getFirst());
        assertEquals(
                new TreeSet<>(List.of("SKIPPED NothingTest, nothing of it ran", "passed  WholeTest, 3 ran",
                        "passed  PartTest#shouldRun, 1 ran, 1 skipped: no \"GPU\"")),
                new TreeSet<>(lines.subList(1, 4)));
        assertEquals(List.of("ran nowhere in this share:", "  NothingTest: not quiet", "not begun: 0",
                "2 passed, 0 failed, 1 skipped"), lines.subList(4, lines.size()));
    }

    @Test
    void shouldFailForATestThatFailsAndForOneThatIsNotFound() throws Exception {
        for (String name : List.of("WholeTest", "WrongTest", "GoneTest")) {
            test(name, "@Tag(\"long\")\nclass " + name);
        }
        assertEquals("1 passed, 2 failed, 0 skipped", share(1).getLast());
    }
}
