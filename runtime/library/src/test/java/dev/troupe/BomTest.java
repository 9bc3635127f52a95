package dev.troupe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class BomTest {
    private static final Path ROOT = Path.of("../..");
    private static final Pattern MODULE = Pattern.compile("<module>(.*?)</module>");
    private static final Pattern ARTIFACT = Pattern.compile("<artifactId>(troupe[a-z0-9-]*)</artifactId>");
    private static final Pattern OWN = Pattern
            .compile("(?s)</parent>\\s*<artifactId>(.*?)</artifactId>.*<troupe.module>(.*?)</troupe.module>");

    @Test
    void shouldListEveryModuleWithAJar() throws IOException {
        Set<String> modules = new TreeSet<>();
        Set<String> names = new TreeSet<>();
        for (String folder : all(MODULE, "pom.xml")) {
            OWN.matcher(Files.readString(ROOT.resolve(folder).resolve("pom.xml"))).results().forEach(own -> {
                modules.add(own.group(1));
                assertTrue(names.add(own.group(2)), "two modules are named " + own.group(2));
            });
        }
        modules.remove("troupe-bench");
        Set<String> listed = all(ARTIFACT, "bom/pom.xml");
        listed.remove("troupe-bom");
        assertEquals(modules, listed);
    }

    private static Set<String> all(Pattern pattern, String file) throws IOException {
        return pattern.matcher(Files.readString(ROOT.resolve(file))).results()
                .map((MatchResult found) -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
