package dev.troupe.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Loads the example files. */
@Tag("plan")
class ClusterFilesTest {
    private static final List<String> FILES = List.of("kubernetes", "local-2", "local-4", "mixed-engines", "standby",
            "two-machines");

    @ParameterizedTest
    @CsvSource({
            "local-2,       'a [0], b [1]'",
            "local-4,       'a [0], b [1], c [2], d [3]'",
            "two-machines,  'first [0, 1, 2, 3], second [4, 5, 6, 7]'",
            "standby,       'a [0, 1], b [2, 3], spare []'",
            "mixed-engines, 'ends [0, 3], middle [1, 2]'",
            "kubernetes,    'troupe-0 [0], troupe-1 [1], troupe-2 [2], troupe-3 [3]'"})
    void shouldPlaceTheRanksOfAFile(String name, String placement) {
        ClusterSpec cluster = read(name).cluster().orElseThrow();
        assertEquals(name, cluster.name());
        assertEquals(placement, String.join(", ",
                cluster.nodes().stream().map(node -> node.name() + " " + node.ranks()).toList()));
    }

    @Test
    void shouldLetNodesOfOneFileComputeOnDifferentEngines() {
        assertEquals(List.of("cpu 1", "nd4j 1"), read("mixed-engines").cluster().orElseThrow().nodes().stream()
                .map(NodeSpec::engine).map(engine -> engine.kind() + " " + engine.threads()).toList());
    }

    @Test
    void shouldStartOnlyLocalFilesOnOneMachine() {
        for (String name : List.of("local-2", "local-4", "standby", "mixed-engines")) {
            ClusterSpec cluster = read(name).cluster().orElseThrow();
            assertEquals(cluster.nodes(), cluster.nodesOn("localhost"), name);
            assertEquals(List.of(), cluster.unknownHosts(), name);
        }
    }

    @Test
    void shouldDescribeAndStartEachFileInItsComment() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(""))) {
            assertEquals(FILES, files.map(Path::toString).filter(file -> file.endsWith(".conf"))
                    .map(file -> file.replace(".conf", "")).sorted().toList());
        }
        for (String name : FILES) {
            String text = Files.readString(Path.of(name + ".conf"));
            assertTrue(text.startsWith("# "), name);
            assertTrue(text.contains("#   ./troupe launch cluster-config/" + name + ".conf")
                    || text.contains("./troupe node"), name);
        }
    }

    private static RunSpec read(String name) {
        return RunSpecReader.read(Optional.of(Path.of(name + ".conf")), List.of());
    }
}
