package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The script {@code .ci/slowest}. */
@Tag("runtime")
@Timeout(60)
class SlowestTest {
    @TempDir
    private Path root;

    private Path report(String module, String name, String seconds, int tests, int skipped) throws Exception {
        Path folder = Files.createDirectories(root.resolve(module).resolve("target/surefire-reports"));
        return Files.writeString(folder.resolve("TEST-" + name + ".xml"),
                """
                        <?xml version="1.0" encoding="UTF-8"?>
                        <testsuite version="3.0.2" name="%s" time="%s" tests="%d" errors="0" skipped="%d" failures="0" flakes="0">
                          <testcase name="shouldBe" time="7000"/>
                        </testsuite>
                        """
                        .formatted(name, seconds, tests, skipped));
    }

    @Test
    void shouldNameTheTenSlowestClassesOfABuild() throws Exception {
        Files.copy(Path.of("../.ci/slowest"), Files.createDirectory(root.resolve(".ci")).resolve("slowest"));
        Path old = report("one", "a.OldTest", "5000", 1, 0);
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minusSeconds(1_000)));
        Path began = Files.writeString(root.resolve("began"), "");
        Files.setLastModifiedTime(began, FileTime.from(Instant.now().minusSeconds(500)));
        for (int i = 1; i <= 10; i++) {
            report("one", "a.Test" + i, i + ".25", 3, 1);
        }
        report("two/deep", "b.LongTest", "1,001.5", 9, 4);
        Path said = root.resolve("said");
        Process script = new ProcessBuilder("bash", root.resolve(".ci/slowest").toString(), began.toString())
                .redirectErrorStream(true).redirectOutput(said.toFile()).start();
        script.waitFor(50, TimeUnit.SECONDS);
        List<String> lines = Files.readAllLines(said);
        assertEquals(0, script.exitValue(), lines::toString);
        assertEquals(12, lines.size(), lines::toString);
        assertEquals(List.of("the slowest test classes:", "  1001.5 s  b.LongTest, 5 tests",
                "    10.2 s  a.Test10, 2 tests"), lines.subList(0, 3));
        assertEquals("     2.2 s  a.Test2, 2 tests", lines.get(10));
        assertEquals("  1059.0 s  all 11 classes", lines.getLast());
    }
}
