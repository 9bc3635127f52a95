package dev.troupe.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.cluster.status.NodeStatus;
import dev.troupe.cluster.status.StatusBoard;
import dev.troupe.cluster.status.StatusQuery;
import dev.troupe.config.RunSpecReader;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.management.javadsl.PekkoManagement;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node's management port, with the settings that a node has. */
@Tag("actor")
class StatusQueryTest {
    @TempDir
    private Path directory;

    @Test
    void shouldHearWhatANodeSaysOfItself() throws Exception {
        ClusterSpec cluster = cluster();
        NodeSpec node = cluster.node("a");
        try (StatusQuery query = new StatusQuery()) {
            assertEquals(Optional.empty(), query.of(node));
            ActorSystem<Void> system = ActorSystem.create(Behaviors.empty(), ClusterSettings.systemName(cluster),
                    ClusterSettings.of(cluster, node, true, List.of()));
            try {
                NodeStatus status = new NodeStatus("a", List.of(0), 3,
                        Optional.of(new NodeStatus.Progress(7, 1.25, 640, List.of("stage 1 is a straggler"))),
                        List.of("b"));
                StatusBoard.of(system.classicSystem()).set(status);
                PekkoManagement.get(system).start().toCompletableFuture().get(30, TimeUnit.SECONDS);
                assertEquals(Optional.of(status), query.of(node));
            } finally {
                system.terminate();
                system.getWhenTerminated().toCompletableFuture().get(30, TimeUnit.SECONDS);
            }
        }
    }

    private ClusterSpec cluster() throws IOException {
        InetAddress here = InetAddress.getByName("127.0.0.1");
        try (ServerSocket control = new ServerSocket(0, 1, here);
                ServerSocket management = new ServerSocket(0, 1, here)) {
            Path file = Files.writeString(directory.resolve("cluster.conf"), """
                    troupe {
                      parallel.pipeline = 1
                      cluster.nodes = [
                        { name = a, host = 127.0.0.1, control-port = %d, data-port = 1, management-port = %d }
                      ]
                    }
                    """.formatted(control.getLocalPort(), management.getLocalPort()));
            return RunSpecReader.read(Optional.of(file), List.of()).cluster().orElseThrow();
        }
    }
}
