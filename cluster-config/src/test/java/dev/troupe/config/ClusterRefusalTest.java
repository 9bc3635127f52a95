package dev.troupe.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.config.problem.ConfigException;
import dev.troupe.config.problem.Problem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("plan")
class ClusterRefusalTest {
    @TempDir
    private Path folder;

    /** A correct node, b, on line 2; the node under test, a, on line 3. Four ranks, of which b takes those that a leaves. */
    @ParameterizedTest
    @CsvSource(delimiter = '!', quoteCharacter = '`', value = {
            "name = b ! nodes[1].name: expected a name of its own, found \"b\", which cluster.nodes[0].name has too; rename "
                    + "one of them.",
            "name = \"a b\" ! nodes[1].name: expected at most 64 letters, digits, '.', '_' and '-', the first a letter or "
                    + "digit, found \"a b\".",
            "host = \"\" ! nodes[1].host: expected a host name or an address, without a port, found \"\".",
            "host = \"there:4001\" ! nodes[1].host: expected a host name or an address, without a port, found "
                    + "\"there:4001\".",
            "control-port = 0 ! nodes[1].control-port: expected a whole number from 1 to 65535, found 0.",
            "data-port = 65536 ! nodes[1].data-port: expected a whole number from 1 to 65535, found 65536.",
            "data-port = x ! nodes[1].data-port: expected a whole number from 1 to 65535, found \"x\".",
            "management-port = -1 ! nodes[1].management-port: expected a whole number from 0 to 65535, found -1.",
            "threads = -1 ! nodes[1].threads: expected a whole number from 0 to 1024, found -1.",
            "engine = \" \" ! nodes[1].engine: expected auto or the name of an engine, found \" \".",
            "engine { kind = cpu } ! nodes[1].engine: expected auto or the name of an engine, found a section.",
            "engine = emulated ! nodes[1].engine: expected emulated on all nodes or on none, found \"emulated\"; it computes "
                    + "nothing, which others would take for results.",
            "standby = 1 ! nodes[1].standby: expected true or false, found 1.",
            "standby = true, ranks = [1] ! nodes[1].ranks: expected none, since the node is a standby, found [1]; take "
                    + "them out, or standby = true.",
            "ranks = 1 ! nodes[1].ranks: expected a list of whole numbers from 0 to 65535, such as [0, 1], found 1.",
            "ranks = [0, a] ! nodes[1].ranks: expected a list of whole numbers from 0 to 65535, such as [0, 1], found "
                    + "[0,\"a\"].",
            "ranks = [] ! nodes[1].ranks: expected one rank or more, found []; leave ranks out to have them placed, or "
                    + "write standby = true.",
            "ranks = [0, 4] ! nodes[1].ranks: expected ranks from 0 to 3 (pipeline x data x tensor = 4 x 1 x 1), each on "
                    + "one node, found rank 4; take it out, or change a degree.",
            "ranks = [0, 0] ! nodes[1].ranks: expected ranks from 0 to 3 (pipeline x data x tensor = 4 x 1 x 1), each on "
                    + "one node, found rank 0 twice; take it out of one of them.",
            "ranks = [0, 1, 2, 3] ! nodes[0].ranks: expected ranks to place on the node, found none left, since whole "
                    + "tensor groups are placed (parallel.tensor = 1); take the node out, write standby = true, or share "
                    + "the ranks out by hand.",
            "dataport = 3 ! nodes[1].dataport: expected a key that exists, found an unknown one; did you mean data-port?",
            "rank = [3] ! nodes[1].rank: expected a key that exists, found an unknown one; did you mean ranks?",
            "device = first ! nodes[1].device: expected round-robin or the number of a device, from 0, found \"first\".",
            "host = 127.0.0.1 ! nodes[1].host: expected localhost, as cluster.nodes[0].host has it, found \"127.0.0.1\"; write "
                    + "one host one way.",
            "host = localhost, control-port = 11 ! nodes[1].control-port: expected a port of its own on localhost, found "
                    + "11, which cluster.nodes[0].control-port has too; choose another.",
            "host = localhost, data-port = 13 ! nodes[1].data-port: expected a port of its own on localhost, found 13, "
                    + "which cluster.nodes[0].management-port has too; choose another.",
            "management-port = 21 ! nodes[1].management-port: expected a port of its own on there, found 21, which "
                    + "cluster.nodes[1].control-port has too; choose another."})
    void shouldRefuseANode(String keys, String sentence) throws IOException {
        Path file = write("""
                troupe.cluster.nodes = [
                  { name = b, host = localhost, control-port = 11, data-port = 12, management-port = 13 }
                  { name = a, host = there, control-port = 21, data-port = 22, %s }
                ]
                """.formatted(keys));
        int line = sentence.contains("nodes[0].ranks") ? 2 : 3;
        assertEquals("cluster." + sentence.replaceFirst(":", " (" + file + ":" + line + "):"), refusal(file));
    }

    @Test
    void shouldReportTheMissingKeysOfANode() throws IOException {
        Path file = write("troupe.cluster.nodes = [\n  {}\n]");
        assertEquals(
                """
                        cluster.nodes[0].name (FILE:2): expected a name of the node, found none.
                        cluster.nodes[0].host (FILE:2): expected the name or address under which the other nodes reach it, found none.
                        cluster.nodes[0].control-port (FILE:2): expected a TCP port from 1 to 65535, found none.
                        cluster.nodes[0].data-port (FILE:2): expected a TCP port from 1 to 65535, found none."""
                        .replace("FILE", file.toString()),
                refusal(file));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '!', quoteCharacter = '`', value = {
            "nodes = 3 ! nodes: expected a list of sections, such as [{ ... }, { ... }], found 3; a section has "
                    + "control-port, data-port, device, emulated-speed, engine, host, management-port, name, ranks, standby, threads.",
            "nodes = [3] ! nodes[0]: expected a section { ... }, found 3; it has control-port, data-port, device, emulated-speed, engine, host, "
                    + "management-port, name, ranks, standby, threads.",
            "name = \"a b\" ! name: expected at most 64 letters, digits, '.', '_' and '-', the first a letter or digit, "
                    + "found \"a b\".",
            "join-timeout = 60 ! join-timeout: expected a duration with its unit from 100ms to 24h, such as 60s, found 60.",
            "split-tensor-groups = 2 ! split-tensor-groups: expected true or false, found 2.",
            "tls { certificate = c.pem, authority = a.pem, key = \"\" } ! tls.key: expected a PEM file, since TLS takes "
                    + "certificate, key and authority together, found \"\"; set it, or leave out all three.",
            "nodes = [{ name = a, host = h, control-port = 1, data-port = 2, standby = true }] ! nodes: expected one node "
                    + "or more that is no standby, found standbys only; take standby = true out of one.",
            "nodes = [{ name = a, host = h, control-port = 1, data-port = 2, ranks = [0, 2] }] ! nodes: expected a node "
                    + "for every rank of pipeline x data x tensor = 4 x 1 x 1, found none for ranks 1, 3; add what is "
                    + "missing to the ranks of a node, or leave ranks out of one to have it take the rest."})
    void shouldRefuseACluster(String text, String sentence) throws IOException {
        Path file = write("troupe.cluster { " + text + " }");
        assertEquals("cluster." + sentence.replaceFirst(":", " (" + file + ":1):"), refusal(file));
    }

    @Test
    void shouldRefuseTensorsInTheClearWithTls() throws IOException {
        Path file = write("troupe { transport.network = udp\n"
                + "cluster { tls { certificate = c.pem, key = k.pem, authority = a.pem }, "
                + "nodes = [{ name = a, host = h, control-port = 1, data-port = 2 }] } }");
        assertEquals("transport.network (" + file + ":1): expected tcp with cluster.tls, since udp carries tensors in"
                + " the clear, found udp; take one of them away.", refusal(file));
        assertEquals("udp", RunSpecReader.read(Optional.of(write("troupe { transport.network = udp }")), List.of())
                .transport().network().word());
    }

    @Test
    void shouldRefuseARankOnTwoNodesAndNameBoth() throws IOException {
        Path file = write(twoNodes("ranks = [0, 1, 2]", "ranks = [2, 3]"));
        assertEquals("cluster.nodes[1].ranks (" + file + ":3): expected ranks from 0 to 3 (pipeline x data x tensor = "
                + "4 x 1 x 1), each on one node, found rank 2, which cluster.nodes[0].ranks has too; take it out of one "
                + "of them.", refusal(file));
    }

    @Test
    void shouldRefuseATensorGroupOverTwoHostsUnlessAskedFor() throws IOException {
        String pairs = "troupe.parallel { pipeline = 2, tensor = 2 }";
        Path file = write(twoNodes("ranks = [0, 1, 2]", "ranks = [3]") + pairs);
        assertEquals("cluster.nodes[1].ranks (" + file
                + ":3): expected tensor groups within one host, found ranks [2, 3] "
                + "of one group on h and i; put them together, or set cluster.split-tensor-groups "
                + "= true if the network is fast enough.", refusal(file));
        write(twoNodes("ranks = [0, 1, 2]", "ranks = [3], host = h, control-port = 3, data-port = 4") + pairs);
        assertEquals(List.of(0, 0, 0, 1), nodeOfRank(file));
        write(twoNodes("ranks = [0, 1, 2]", "ranks = [3]") + pairs + ", troupe.cluster.split-tensor-groups = true");
        assertEquals(List.of(0, 0, 0, 1), nodeOfRank(file));
    }

    @Test
    void shouldRefuseMoreNodesThanTensorGroups() throws IOException {
        Path file = write(twoNodes("threads = 1", "threads = 1") + "troupe.parallel { pipeline = 1, tensor = 2 }");
        assertEquals("cluster.nodes[1].ranks (" + file + ":3): expected ranks to place on the node, found none left, "
                + "since whole tensor groups are placed (parallel.tensor = 2); take the node out, write standby = true, "
                + "or share the ranks out by hand.", refusal(file));
    }

    @Test
    void shouldRefuseFloat64IfTheEngineOfANodeHasNone() throws IOException {
        Path file = write(twoNodes("engine = reference", "engine = cpu") + "troupe.training.precision = float64");
        assertEquals("cluster.nodes[1].engine (" + file + ":3): expected nd4j or reference with training.precision = "
                + "float64, found \"cpu\"; set it to one that computes in float64, or the precision to float32.",
                refusal(file));
    }

    @Test
    void shouldRefuseAMixOfEmulatedAndComputingNodes() throws IOException {
        Path file = write(twoNodes("engine = cpu", "threads = 1") + "troupe.engine.kind = emulated");
        assertEquals(
                "cluster.nodes[0].engine (" + file + ":2): expected emulated on all nodes or on none, found \"cpu\"; "
                        + "it computes nothing, which others would take for results.",
                refusal(file));
    }

    @Test
    void shouldReportEveryProblemOfAClusterAtOnce() throws IOException {
        Path file = write("""
                troupe.trainin.steps = 3
                troupe.cluster {
                  tls.key = k.pem
                  nodes = [
                    { name = a, host = h, control-port = 1, data-port = 2, ranks = [0, 9] }
                    { name = a, host = h, control-port = 0, data-port = 1, ranks = [0], standbye = true }
                  ]
                }
                """);
        ConfigException refusal = assertThrows(ConfigException.class, () -> read(file));
        assertEquals(
                List.of("trainin", "cluster.tls.certificate", "cluster.tls.authority", "cluster.nodes[1].standbye",
                        "cluster.nodes[1].control-port", "cluster.nodes[1].name", "cluster.nodes[1].data-port",
                        "cluster.nodes[0].ranks", "cluster.nodes[1].ranks", "cluster.nodes"),
                refusal.problems().stream().map(Problem::key).toList());
    }

    @Test
    void shouldComparePortsAcrossTheNamesOfTheLoopback() throws IOException {
        Path file = write(twoNodes("host = localhost", "host = \"127.0.0.1\""));
        ConfigException refusal = assertThrows(ConfigException.class, () -> read(file));
        assertEquals(
                List.of("cluster.nodes[1].host", "cluster.nodes[1].control-port", "cluster.nodes[1].data-port"),
                refusal.problems().stream().map(Problem::key).toList());
    }

    private static String twoNodes(String first, String second) {
        return """
                troupe.cluster.nodes = [
                  { name = a, host = h, control-port = 1, data-port = 2, %s }
                  { name = b, host = i, control-port = 1, data-port = 2, %s }
                ]
                """.formatted(first, second);
    }

    private static List<Integer> nodeOfRank(Path file) {
        return read(file).cluster().orElseThrow().nodeOfRank();
    }

    private static RunSpec read(Path file) {
        return RunSpecReader.read(Optional.of(file), List.of());
    }

    private static String refusal(Path file) {
        return assertThrows(ConfigException.class, () -> read(file)).getMessage();
    }

    private Path write(String text) throws IOException {
        return Files.writeString(folder.resolve("run.conf"), text);
    }
}
