package dev.troupe.run.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.config.RunSpecReader;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.config.cluster.TlsSpec;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.look.page.RunPage;
import dev.troupe.run.cluster.status.NodeStatus;
import dev.troupe.run.cluster.status.StatusBoard;
import dev.troupe.run.cluster.status.StatusQuery;
import dev.troupe.run.http.Answer;
import dev.troupe.run.http.PageServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node's management port, with the settings that a node has. */
@Tag("actor")
class StatusQueryTest {
    private static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";

    @TempDir
    private Path directory;

    @Test
    void shouldReturnTheStatusOfANode() throws Exception {
        ClusterSpec cluster = cluster("");
        NodeSpec node = cluster.node("a");
        try (StatusQuery query = new StatusQuery(Optional.empty())) {
            assertEquals(Optional.empty(), query.of(node));
            ActorSystem<Void> system = ActorSystem.create(Behaviors.empty(), ClusterSettings.systemName(cluster),
                    ClusterSettings.of(cluster, node, true, List.of()));
            try {
                NodeStatus status = new NodeStatus("a", List.of(0), 3,
                        Optional.of(new NodeStatus.Progress(7, 1.25, 640, List.of("stage 1 is a straggler"))),
                        List.of("b"));
                StatusBoard.of(system.classicSystem()).set(status);
                ManagementPort.open(system.classicSystem(), cluster, node,
                        new RunPage(directory).routes().with("/metrics", _ -> Answer.text(TEXT, "a 1\n")));
                assertEquals(status, answer(query, node));
                requireOwnNames(node);
                requireHealth(node);
                requirePage(node);
                assertEquals(status, answer(query, node));
            } finally {
                system.terminate();
                system.getWhenTerminated().toCompletableFuture().get(30, TimeUnit.SECONDS);
            }
        }
    }

    /** More callers than a port takes, of which none completes its request; none holds it for ever: after ten seconds. */
    @Dealt(3)
    @Test
    void shouldGiveUpCallersThatSendHalfARequest() throws Exception {
        RunPage page = new RunPage(directory);
        List<Socket> callers = new ArrayList<>();
        try (PageServer server = PageServer.open(0, "--port", page.routes())) {
            for (int i = 0; i < 300; i++) {
                Socket caller = new Socket(InetAddress.getLoopbackAddress(), server.address().getPort());
                callers.add(caller);
                caller.setSoTimeout(30_000);
                caller.getOutputStream().write("GET / HTTP/1.1\r\nHost: 127".getBytes(StandardCharsets.UTF_8));
            }
            for (Socket caller : callers) {
                assertTrue(isClosed(caller), "a caller with half a request has not been given up in 30 s");
            }
        } finally {
            for (Socket caller : callers) {
                caller.close();
            }
        }
    }

    private static boolean isClosed(Socket caller) throws IOException {
        try {
            return caller.getInputStream().read() < 0;
        } catch (SocketTimeoutException _) {
            return false;
        } catch (SocketException _) {
            return true;
        }
    }

    /** The certificate is for another name than the address; status asks by the rule of the control plane. */
    @Test
    void shouldAnswerOverTlsAloneIfTheClusterHasCertificates() throws Exception {
        Path tls = TestCertificates.make(directory.resolve("ours"));
        ClusterSpec cluster = cluster(
                "cluster.tls { certificate = %1$s/node.crt, key = %1$s/node.key, authority = %1$s/ca.crt }"
                        .formatted(tls));
        TlsSpec stranger = TestCertificates.spec(TestCertificates.make(directory.resolve("theirs")));
        NodeSpec node = cluster.node("a");
        ActorSystem<Void> system = ActorSystem.create(Behaviors.empty(), ClusterSettings.systemName(cluster),
                ClusterSettings.of(cluster, node, true, List.of()));
        try (StatusQuery query = new StatusQuery(cluster.tls());
                StatusQuery plain = new StatusQuery(Optional.empty());
                StatusQuery strange = new StatusQuery(Optional.of(stranger))) {
            NodeStatus status = NodeStatus.of("a", List.of(0));
            StatusBoard.of(system.classicSystem()).set(status);
            ManagementPort.open(system.classicSystem(), cluster, node, new RunPage(directory).routes());
            assertEquals(status, answer(query, node));
            assertEquals(Optional.empty(), plain.of(node));
            assertEquals(Optional.empty(), strange.of(node));
        } finally {
            system.terminate();
            system.getWhenTerminated().toCompletableFuture().get(30, TimeUnit.SECONDS);
        }
    }

    /** Asks until there is an answer: a question has its patience, which the first handshake of a busy machine may take. */
    private static NodeStatus answer(StatusQuery query, NodeSpec node) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        Optional<NodeStatus> answer = query.of(node);
        while (answer.isEmpty() && System.nanoTime() < deadline) {
            answer = query.of(node);
        }
        return answer.orElseThrow();
    }

    /** Nothing on the port answers under the name of another site. */
    private static void requireOwnNames(NodeSpec node) throws IOException {
        for (String path : List.of("/troupe/status", "/cluster/members", "/alive", "/ready", "/page.js", "/nothing")) {
            for (String host : List.of("evil.example", "127.0.0.1.evil.example", "10.0.0.1",
                    "localhost.evil.example")) {
                assertEquals(403, answered(node, path, host + ":" + node.managementPort()), path + " of " + host);
            }
            for (String host : List.of("127.0.0.1", "localhost", "LOCALHOST")) {
                assertTrue(answered(node, path, host) != 403 || path.equals("/page.js"), path + " of " + host);
            }
        }
    }

    private static int answered(NodeSpec node, String path, String host) throws IOException {
        try (Socket socket = new Socket(node.host(), node.managementPort())) {
            socket.setSoTimeout(30_000);
            socket.getOutputStream().write(("GET " + path + " HTTP/1.1\r\nHost: " + host
                    + "\r\nConnection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
            return Integer.parseInt(answer.substring("HTTP/1.1 ".length()));
        }
    }

    private static void requireHealth(NodeSpec node) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            assertEquals(200, get(client, node, "/alive").statusCode());
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            int ready = get(client, node, "/ready").statusCode();
            while (ready == 503 && System.nanoTime() < deadline) { // until the node has formed its cluster
                ready = get(client, node, "/ready").statusCode();
            }
            assertEquals(200, ready);
        }
    }

    /** The page of the run is on the same port, for this machine alone. */
    private void requirePage(NodeSpec node) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpResponse<String> meters = get(client, node, "/metrics");
            assertEquals("a 1\n", meters.body());
            assertEquals(TEXT, meters.headers().firstValue("Content-Type").orElseThrow().toLowerCase(Locale.ROOT));
            HttpResponse<String> script = get(client, node, "/page.js");
            assertEquals(200, script.statusCode());
            assertTrue(script.headers().firstValue("Content-Security-Policy").isPresent());
            assertTrue(get(client, node, "/troupe/v1/steps/3").body().contains("0 steps are done"));
            try (Stream<String> events = client.send(request(node, RunPage.EVENTS),
                    HttpResponse.BodyHandlers.ofLines()).body()) {
                assertEquals("event: now", events.iterator().next());
            }
        }
        NodeSpec elsewhere = new NodeSpec("a", "192.0.2.1", node.controlPort(), node.dataPort(),
                node.managementPort(), node.engine(), node.ranks(), node.standby());
        PageServer.Guard guard = ManagementPort.guard(elsewhere);
        assertEquals(403, guard.refusal("192.0.2.1", "/page.js").orElseThrow().status());
        assertEquals(403, guard.refusal("127.0.0.1", "/alive").orElseThrow().status());
        assertEquals(Optional.empty(), guard.refusal("192.0.2.1", "/alive"));
    }

    private static HttpResponse<String> get(HttpClient client, NodeSpec node, String path)
            throws Exception {
        return client.send(request(node, path), HttpResponse.BodyHandlers.ofString());
    }

    private static HttpRequest request(NodeSpec node, String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + node.managementPort() + path)).build();
    }

    private ClusterSpec cluster(String more) throws IOException {
        InetAddress here = InetAddress.getByName("127.0.0.1");
        try (ServerSocket control = new ServerSocket(0, 1, here);
                ServerSocket management = new ServerSocket(0, 1, here)) {
            Path file = Files.writeString(directory.resolve("cluster.conf"), """
                    troupe {
                      parallel.pipeline = 1
                      %s
                      cluster.nodes = [
                        { name = a, host = 127.0.0.1, control-port = %d, data-port = 1, management-port = %d }
                      ]
                    }
                    """.formatted(more, control.getLocalPort(), management.getLocalPort()));
            return RunSpecReader.read(Optional.of(file), List.of()).cluster().orElseThrow();
        }
    }
}
