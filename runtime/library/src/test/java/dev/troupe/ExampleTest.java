package dev.troupe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The examples agree with the documents. */
@Tag("plan")
class ExampleTest {
    private static final Path ROOT = Path.of("../..");
    private static final Path EXAMPLES = ROOT.resolve("examples");
    private static final int MOST_LINES = 24;
    private static final Pattern PROGRAM = Pattern.compile("(?s)```java\n(import .*?)```");
    private static final Pattern DEPENDENCY = Pattern
            .compile("(?s)</dependencyManagement>.*?<artifactId>(.*?)</artifactId>.*?</dependencies>");

    @Test
    void shouldTrainWithinTheLinesThatTheDocumentsPrint() throws IOException {
        String program = Files.readString(EXAMPLES.resolve("train-from-text/TrainFromText.java"));
        assertTrue(program.lines().count() <= MOST_LINES, "the program has " + program.lines().count() + " lines");
        assertEquals(List.of(program), PROGRAM.matcher(Files.readString(ROOT.resolve("docs/embedding.md"))).results()
                .map((MatchResult found) -> found.group(1)).toList());
    }

    @Test
    void shouldBeProjectsOfOneFileThatDependOnTheLibraryAloneAndAnApplication() throws IOException {
        List<Path> projects;
        try (Stream<Path> folders = Files.list(EXAMPLES)) {
            projects = folders.filter(folder -> Files.exists(folder.resolve("pom.xml"))).sorted().toList();
        }
        assertEquals(7, projects.size());
        for (Path project : projects) {
            boolean isApplication = project.endsWith("spring-boot");
            try (Stream<Path> files = Files.walk(project)) {
                assertEquals(isApplication ? 2 : 1, files.filter(file -> file.toString().endsWith(".java")).count(),
                        project.toString());
            }
            assertEquals(List.of("troupe"), DEPENDENCY.matcher(Files.readString(project.resolve("pom.xml"))).results()
                    .map((MatchResult found) -> found.group(1)).toList(), project.toString());
        }
    }

    /** The build resolves the class path of the application as on a machine of another kind. */
    @Test
    void shouldResolveTheApplicationAsOnAMac() throws IOException {
        assertTrue(Files.readString(EXAMPLES.resolve("spring-boot/invoker.properties")).contains("-Dos.name=Mac"));
    }
}
