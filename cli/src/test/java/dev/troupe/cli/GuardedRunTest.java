package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.ConfigFactory;
import dev.troupe.cli.GatedEngineProvider.Gate;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.run.ActorSystems;
import dev.troupe.run.cluster.guard.KeyFile;
import dev.troupe.run.cluster.guard.SealedSerializer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.AddressFromURIString;
import org.apache.pekko.actor.Identify;
import org.apache.pekko.actor.Kill;
import org.apache.pekko.cluster.Cluster;
import org.apache.pekko.pattern.Patterns;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two nodes in this JVM, on two addresses of the loopback, and whoever else is on their machine or reaches their ports. */
@Tag("real")
@Dealt(2)
@Timeout(300)
class GuardedRunTest {
    private static final long PATIENCE_SECONDS = 120;
    private static final long LOOK_AGAIN_NANOS = 20_000_000;

    private final LocalCluster cluster = LocalCluster.of(3);
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();

    @TempDir
    private Path directory;

    @ParameterizedTest(name = "TLS: {0}")
    @ValueSource(booleans = {true, false})
    void shouldTrainToTheBitsOfOneProcessWhateverAStrangerTries(boolean isEncrypted) throws Exception {
        String tls = isEncrypted ? TestTls.section(directory) : "";
        Path config = write("cluster.conf", tls, "");
        Gate gate = new Gate(0, 0, 1, Duration.ofSeconds(PATIENCE_SECONDS));
        GatedEngineProvider.reference(List.of());
        Execution.of(arguments("one", "train", config.toString())).requireDone();
        GatedEngineProvider.reference(List.of(gate));
        PrintStream standardOutput = System.out;
        PrintStream standardError = System.err;
        PrintStream heard = new PrintStream(said, true, StandardCharsets.UTF_8);
        System.setOut(heard);
        System.setErr(heard);
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<Integer>> nodes = Stream.of("a", "b").map(node -> threads.submit(() -> Troupe.commandLine()
                    .execute(arguments("two", "node", config.toString(), node).toArray(String[]::new)))).toList();
            try {
                requireStatus(config, nodes);
                requirePage(isEncrypted);
                requireNothingForOthers();
                requireNothingOfAStranger(tls);
                requireRefusal(write("three.conf", tls, cluster.node(2, "127.0.0.3", "standby = true")));
            } finally {
                gate.open();
            }
            for (Future<Integer> node : nodes) {
                assertEquals(ExitCode.DONE, node.get(PATIENCE_SECONDS, TimeUnit.SECONDS), said.toString());
            }
        } finally {
            System.setOut(standardOutput);
            System.setErr(standardError);
        }
        RunFiles.assertSameBits(directory.resolve("one"), directory.resolve("two"));
        // Pekko's selector closes a port a little after its actor system has ended.
        await("ports in use", () -> cluster.portsInUse().isEmpty());
        cluster.requireNothingLeft();
    }

    private Path write(String file, String tls, String third) throws IOException {
        return cluster.write(directory.resolve(file), tls, cluster.node(0, cluster.management(0)),
                cluster.node(1, "127.0.0.2", cluster.management(1)), third);
    }

    private List<String> arguments(String out, String... command) {
        List<String> arguments = new ArrayList<>(List.of(command));
        arguments.addAll(List.of("--out", directory.resolve(out).toString()));
        Golden.named(Golden.TIED)
                .settings("engine.kind=gated", "parallel.pipeline=2", "training.steps=3", "training.microbatch-size=1")
                .forEach(setting -> arguments.addAll(List.of("-s", setting)));
        return arguments;
    }

    /** Asks until the first step is done. */
    private void requireStatus(Path config, List<Future<Integer>> nodes) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        Execution status = Execution.command("status", config.toString());
        while (!status.output().contains("step 1, loss ") || status.output().contains("no answer")) {
            assertTrue(System.nanoTime() < deadline, status.output() + status.errors());
            assertFalse(nodes.stream().anyMatch(Future::isDone), said.toString());
            status = Execution.command("status", config.toString());
        }
        assertEquals(ExitCode.DONE, status.exitCode());
        assertEquals(List.of("a 127.0.0.1:" + cluster.controlPort(0) + " up 0 [0]",
                "b 127.0.0.2:" + cluster.controlPort(1) + " up 0 [1]"),
                status.output().lines().map(line -> line.replaceAll(" +", " ")).toList().subList(1, 3));
    }

    /** With the authority alone, as a browser; and not in the clear. */
    private void requirePage(boolean isEncrypted) throws Exception {
        String address = "://127.0.0.1:" + cluster.managementPort(0) + "/troupe/v1/run";
        try (HttpClient plain = HttpClient.newHttpClient()) {
            if (!isEncrypted) {
                requireTraining(plain, "http" + address);
                return;
            }
            assertThrows(IOException.class, () -> get(plain, "http" + address));
            assertThrows(IOException.class, () -> get(plain, "https" + address));
        }
        KeyStore known = KeyStore.getInstance(KeyStore.getDefaultType());
        known.load(null, null);
        try (InputStream authority = Files.newInputStream(directory.resolve("tls/ca.crt"))) {
            known.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(authority));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(known);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        try (HttpClient client = HttpClient.newBuilder().sslContext(context).build()) {
            requireTraining(client, "https" + address);
        }
    }

    private static void requireTraining(HttpClient client, String address) throws Exception {
        HttpResponse<String> run = get(client, address);
        assertEquals(200, run.statusCode());
        assertTrue(run.body().contains("\"state\":\"training\""), run.body());
    }

    private static HttpResponse<String> get(HttpClient client, String address)
            throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(URI.create(address)).build(), HttpResponse.BodyHandlers.ofString());
    }

    /**
     * Another user of the machine gets into neither the directory of the run nor the directory of a media driver,
     * and cannot read the key of the run.
     */
    private void requireNothingForOthers() throws IOException {
        List<Path> drivers;
        try (Stream<Path> shared = Files.list(Path.of("/dev/shm"))) {
            drivers = shared.filter(path -> path.getFileName().toString().startsWith("troupe-" + cluster.name() + "-"))
                    .toList();
        }
        assertEquals(2, drivers.size(), "one of each address: " + drivers);
        Path run = directory.resolve("two");
        List<Path> directories = new ArrayList<>(drivers);
        directories.add(run);
        List<Path> files = new ArrayList<>(List.of(run.resolve("run.key")));
        drivers.forEach(driver -> files.add(driver.resolve("cnc.dat")));
        for (Path path : directories) {
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)), "" + path);
        }
        for (Path path : files) {
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)), "" + path);
        }
    }

    /**
     * A program on this class path, with a certificate if the nodes have one, and without the key of the run. It has guessed
     * the first bytes of a connection, which follow from the key.
     */
    private void requireNothingOfAStranger(String tls) throws Exception {
        Map<String, Object> settings = new HashMap<>(Map.of("pekko.remote.artery.canonical.hostname", "127.0.0.1",
                "pekko.remote.artery.canonical.port", 0, "pekko.cluster.roles", List.of("node-b")));
        if (!tls.isEmpty()) {
            String engine = "pekko.remote.artery.ssl.rotating-keys-engine.";
            String files = directory.resolve("tls").toString();
            settings.putAll(Map.of("pekko.remote.artery.transport", "tls-tcp",
                    "pekko.remote.artery.ssl.ssl-engine-provider",
                    "org.apache.pekko.remote.artery.tcp.ssl.RotatingKeysSSLEngineProvider",
                    engine + "key-file", files + "/127.0.0.1.key", engine + "cert-file", files + "/127.0.0.1.crt",
                    engine + "ca-cert-file", files + "/ca.crt"));
        }
        ActorSystem stranger = ActorSystem.create(cluster.name(),
                SealedSerializer.magic(KeyFile.of(directory.resolve("two")))
                        .withFallback(ConfigFactory.parseMap(settings))
                        .withFallback(ActorSystems.ofNode()));
        try {
            String node = "pekko://" + cluster.name() + "@127.0.0.1:" + cluster.controlPort(0);
            stranger.actorSelection(node + "/user/*").tell(Kill.getInstance(), null);
            stranger.actorSelection(node + "/system/*/*").tell(Kill.getInstance(), null);
            Cluster.get(stranger).join(AddressFromURIString.parse(node));
            Cluster.get(stranger).down(AddressFromURIString.parse(node));
            CompletableFuture<Object> answer = Patterns
                    .ask(stranger.actorSelection(node + "/user"), new Identify(1), Duration.ofSeconds(2))
                    .toCompletableFuture();
            await("no line of the log", () -> said.toString()
                    .contains("its sender has not the key of this run, and is refused"));
            assertThrows(ExecutionException.class, () -> answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
        } finally {
            stranger.terminate();
            // After a refused connection Pekko 1.7 may wait for a stream without a limit (its issue 3247).
            stranger.getWhenTerminated().toCompletableFuture().thenAccept(_ -> {
            }).completeOnTimeout(null, PATIENCE_SECONDS, TimeUnit.SECONDS).join();
        }
    }

    private void await(String what, BooleanSupplier isTrue) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!isTrue.getAsBoolean()) {
            assertTrue(System.nanoTime() < deadline, () -> what + ": " + said);
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        }
    }

    /** A node that has the key, the certificates, and a file of its own. */
    private void requireRefusal(Path config) {
        Execution refused = Execution.of(arguments("two", "node", config.toString(), "c"));
        assertEquals(ExitCode.WRONG_REQUEST, refused.exitCode(), refused.errors());
        assertTrue(
                refused.errors().contains("troupe: node c was refused: the cluster's nodes are a, b; start every node"
                        + " with the same configuration"),
                refused.errors());
    }
}
