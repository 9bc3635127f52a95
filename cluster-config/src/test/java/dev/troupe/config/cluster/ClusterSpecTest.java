package dev.troupe.config.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.problem.ConfigException;
import dev.troupe.config.spec.EmulatedSpec;
import dev.troupe.config.spec.EngineSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class ClusterSpecTest {
    private static final ClusterSpec CLUSTER = cluster(node("a", "localhost", 3, 1), node("b", "10.0.0.2", 0, 2),
            standby("c", "127.0.0.1"));

    @Test
    void shouldFindNodesByName() {
        assertEquals("10.0.0.2", CLUSTER.node("b").host());
        assertEquals(2, CLUSTER.indexOf("c"));
        ConfigException refusal = assertThrows(ConfigException.class, () -> CLUSTER.node("d"));
        assertEquals("cluster.nodes: expected the name of a node, found \"d\"; the nodes of this file are a, b, c.",
                refusal.getMessage());
    }

    @Test
    void shouldKnowTheNodeOfEachRank() {
        assertEquals(List.of(1, 0, 1, 0), CLUSTER.nodeOfRank());
        assertEquals(List.of(1, 3), CLUSTER.node("a").ranks());
    }

    @Test
    void shouldTakeTheNamesOfTheLoopbackForOneHost() {
        List<NodeSpec> local = List.of(CLUSTER.node("a"), CLUSTER.node("c"));
        assertEquals(local, CLUSTER.nodesOn("LOCALHOST"));
        assertEquals(local, CLUSTER.nodesOn("::1"));
        assertEquals(List.of(CLUSTER.node("b")), CLUSTER.nodesOn("10.0.0.2"));
        assertEquals(List.of(), CLUSTER.nodesOn("10.0.0.3"));
    }

    @Test
    void shouldReportEachUnknownHostOnce() {
        assertEquals(List.of(), CLUSTER.unknownHosts());
        assertEquals(List.of("cluster.nodes: expected hosts that this machine can find, found \"no-such-host.invalid\" "
                + "of nodes a, b; check the name, or add it to /etc/hosts."),
                cluster(node("a", "no-such-host.invalid", 0), node("b", "no-such-host.invalid", 1),
                        node("c", "localhost", 2)).unknownHosts());
    }

    @Test
    void shouldReportANetworkWithoutTls() {
        assertEquals(Optional.empty(), cluster(node("a", "localhost", 0), node("b", "127.0.0.2", 1)).exposure());
        String exposure = CLUSTER.exposure().orElseThrow();
        assertTrue(exposure.startsWith("cluster.tls is not set, and the nodes talk over a network (10.0.0.2): "),
                exposure);
        TlsSpec tls = new TlsSpec(Path.of("node.pem"), Path.of("node.key"), Path.of("ca.pem"));
        assertEquals(Optional.empty(),
                new ClusterSpec("test", CLUSTER.nodes(), Duration.ofSeconds(1), Optional.of(tls)).exposure());
    }

    @Test
    void shouldRefuseInvalidComponents() {
        assertThrows(IllegalArgumentException.class, () -> cluster(node("a", "h", 0), node("a", "h", 1)));
        assertThrows(IllegalArgumentException.class, () -> cluster(node("a", "h", 0), node("b", "h", 0)));
        assertThrows(IllegalArgumentException.class, () -> cluster(node("a", "h", 0), node("b", "h", 2)));
        assertThrows(IllegalArgumentException.class, () -> cluster(node("a", "h", 0), node("b", "h")));
        assertThrows(IllegalArgumentException.class, () -> cluster(standby("a", "h")));
    }

    private static ClusterSpec cluster(NodeSpec... nodes) {
        return new ClusterSpec("test", List.of(nodes), Duration.ofSeconds(1), Optional.empty());
    }

    private static NodeSpec node(String name, String host, Integer... ranks) {
        List<Duration> none = List.of(Duration.ZERO);
        return new NodeSpec(name, host, 1, 2, 0,
                new EngineSpec("cpu", 1, OptionalInt.empty(), "auto", EngineSpec.Float32Products.EXACT, false,
                        new EmulatedSpec(none, none, none, none, none, 0)),
                List.of(ranks), false);
    }

    private static NodeSpec standby(String name, String host) {
        NodeSpec node = node(name, host);
        return new NodeSpec(name, host, 1, 2, 0, node.engine(), List.of(), true);
    }
}
