package dev.troupe.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.config.cluster.TlsSpec;
import dev.troupe.config.spec.EngineSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("plan")
class ClusterReaderTest {
    private static final String NODE = "name = a, host = h, control-port = 1, data-port = 2";

    @TempDir
    private Path folder;

    @Test
    void shouldReadEveryKey() throws IOException {
        RunSpec run = read(
                """
                        troupe {
                          name = run.1
                          parallel.pipeline = 2
                          engine { kind = cpu, threads = 3 }
                          cluster {
                            name = trial
                            join-timeout = 90s
                            split-tensor-groups = true
                            tls { certificate = /pem/node.pem, key = /pem/node.key, authority = /pem/ca.pem }
                            nodes = [
                              { name = a, host = "node-1.lan", control-port = 1, data-port = 2, management-port = 3, ranks = [1] }
                              { name = b, host = "::1", control-port = 65535, data-port = 2, engine = nd4j, threads = 1, device = 1,
                                ranks = [0] }
                              { name = c, host = 10.0.0.3, control-port = 1, data-port = 2, standby = true }
                            ]
                          }
                        }
                        """);
        EngineSpec engine = run.engine();
        ClusterSpec expected = new ClusterSpec("trial",
                List.of(new NodeSpec("a", "node-1.lan", 1, 2, 3, engine, List.of(1), false),
                        new NodeSpec("b", "::1", 65535, 2, 0,
                                new EngineSpec("nd4j", 1, OptionalInt.of(1), "auto", EngineSpec.Float32Products.EXACT,
                                        false,
                                        engine.emulated()),
                                List.of(0),
                                false),
                        new NodeSpec("c", "10.0.0.3", 1, 2, 0, engine, List.of(), true)),
                Duration.ofSeconds(90),
                Optional.of(new TlsSpec(Path.of("/pem/node.pem"), Path.of("/pem/node.key"), Path.of("/pem/ca.pem"))));
        assertEquals(Optional.of(expected), run.cluster());
    }

    @Test
    void shouldTakeTheNameOfTheRunAndPlaceRanksByRule() throws IOException {
        ClusterSpec cluster = read("""
                troupe.cluster.nodes = [
                  { name = a, host = localhost, control-port = 1, data-port = 2 }
                  { name = b, host = localhost, control-port = 3, data-port = 4, ranks = [1] }
                  { name = c, host = localhost, control-port = 5, data-port = 6 }
                ]
                """).cluster().orElseThrow();
        assertEquals("first-run", cluster.name());
        assertEquals(Duration.ofSeconds(60), cluster.joinTimeout());
        assertEquals(Optional.empty(), cluster.tls());
        assertEquals(List.of(0, 1, 0, 2), cluster.nodeOfRank());
    }

    @Test
    void shouldHaveNoClusterWithoutNodes() throws IOException {
        assertEquals(Optional.empty(), read("troupe.cluster { name = trial, join-timeout = 1s }").cluster());
    }

    @Test
    void shouldReadNodesOfTheCommandLine() {
        RunSpec run = RunSpecReader.read(Optional.empty(), List.of("cluster.nodes=[{" + NODE + "}]"));
        assertEquals(List.of(0, 0, 0, 0), run.cluster().orElseThrow().nodeOfRank());
    }

    @ParameterizedTest
    @ValueSource(strings = {
            "nodes = [{" + NODE + "}]",
            "nodes = [{" + NODE + ", management-port = 3, engine = reference, threads = 2}]",
            "name = other.name_1, join-timeout = 1500ms, nodes = [{" + NODE + ", ranks = [3, 1]}, {" + NODE
                    + ", name = b, host = i}]",
            "nodes = [{" + NODE + "}, {" + NODE + ", name = b, host = i, standby = true}]",
            "nodes = [{" + NODE + "}], tls { certificate = c.pem, key = \"a \\\" b\", authority = /ca }"})
    void shouldReadItsOwnText(String cluster) throws IOException {
        assertReadsBack("troupe.cluster { " + cluster + " }");
    }

    @Test
    void shouldReadBackATensorGroupThatMayBeSplit() throws IOException {
        assertReadsBack(
                "troupe { parallel { pipeline = 1, tensor = 2 }, cluster { split-tensor-groups = true, nodes = [{"
                        + NODE + "}, {" + NODE + ", name = b, host = i}] } }");
    }

    /** Every world of up to 3 x 2 x 2 ranks on up to as many nodes, each on a host of its own, with a standby or none. */
    @Test
    void shouldReadBackEverySmallCluster() throws IOException {
        for (int pipeline = 1; pipeline <= 3; pipeline++) {
            for (int data = 1; data <= 2; data++) {
                for (int tensor = 1; tensor <= 2; tensor++) {
                    for (int nodes = 1; nodes <= pipeline * data; nodes++) {
                        assertReadsBack(nodes(pipeline, data, tensor, nodes, false));
                        assertReadsBack(nodes(pipeline, data, tensor, nodes, true));
                    }
                }
            }
        }
    }

    private static String nodes(int pipeline, int data, int tensor, int count, boolean hasStandby) {
        StringBuilder text = new StringBuilder("troupe.parallel { pipeline = " + pipeline + ", data = " + data
                + ", tensor = " + tensor + " }\ntroupe.cluster.nodes = [\n");
        for (int i = 0; i < count; i++) {
            text.append("{" + NODE + ", name = n" + i + ", host = h" + i + "}\n");
        }
        return text.append(hasStandby ? "{" + NODE + ", name = s, host = s, standby = true}]" : "]").toString();
    }

    private void assertReadsBack(String text) throws IOException {
        RunSpec run = read(text);
        RunSpec again = read(run.toHocon());
        assertEquals(run, again, text);
        assertEquals(RunSpecReaderTest.sections(run), RunSpecReaderTest.sections(again), text);
    }

    private RunSpec read(String text) throws IOException {
        return RunSpecReader.read(Optional.of(Files.writeString(folder.resolve("run.conf"), text)), List.of());
    }
}
