package dev.troupe.run.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.plan.UsageException;
import dev.troupe.port.RunKey;
import dev.troupe.run.ActorSystems;
import dev.troupe.run.cluster.guard.KeyFile;
import dev.troupe.run.cluster.guard.SealedSerializer;
import dev.troupe.run.cluster.liveness.TwoNodes;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorIdentity;
import org.apache.pekko.actor.AddressFromURIString;
import org.apache.pekko.actor.BootstrapSetup;
import org.apache.pekko.actor.Deploy;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.actor.Identify;
import org.apache.pekko.actor.Kill;
import org.apache.pekko.actor.PoisonPill;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.setup.ActorSystemSetup;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.Adapter;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.cluster.MemberStatus;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.cluster.typed.ClusterSingleton;
import org.apache.pekko.cluster.typed.SingletonActor;
import org.apache.pekko.pattern.Patterns;
import org.apache.pekko.remote.RemoteScope;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A program on the class path of a run that speaks Pekko's protocol to the control port of a node, and lacks one thing that
 * nodes have: the key of the run, or a certificate that they accept.
 */
@Tag("actor")
@Dealt(4)
class StrangerTest {
    private static final long PATIENCE_SECONDS = 60;
    private static final long LOOK_AGAIN_NANOS = 20_000_000;

    private final List<ActorSystem<?>> systems = new ArrayList<>();
    private final CountDownLatch coordinatorEnded = new CountDownLatch(1);
    private static final CountDownLatch DEPLOYED = new CountDownLatch(1);
    private static volatile int portOfNode;
    private ClusterSpec cluster;

    @TempDir
    private Path directory;

    /** The one thing that the stranger lacks. */
    private enum Lack {
        KEY_WITHOUT_TLS, KEY_WITH_TLS, CERTIFICATE, CERTIFICATE_OF_THE_AUTHORITY;

        boolean isOfKey() {
            return this == KEY_WITHOUT_TLS || this == KEY_WITH_TLS;
        }
    }

    /** An actor for a stranger to run in a node. Both systems of the test have one name, so it counts its places. */
    public static final class Implant extends AbstractActor {
        public Implant() {
            Object port = ((ExtendedActorSystem) getContext().getSystem()).provider().getDefaultAddress().port().get();
            if (port.equals(portOfNode)) {
                DEPLOYED.countDown();
            }
        }

        @Override
        public Receive createReceive() {
            return receiveBuilder().build();
        }
    }

    /**
     * Ends all systems. At the two ends of a refused connection Pekko 1.7 may wait for a stream without a limit (its issue
     * 3247), so the wait has one here, as {@link dev.troupe.run.TrainingRun} has at the end of a run.
     */
    @AfterEach
    void endAll() {
        for (ActorSystem<?> system : systems.reversed()) {
            system.terminate();
            system.getWhenTerminated().toCompletableFuture().thenAccept(_ -> {
            }).completeOnTimeout(null, PATIENCE_SECONDS, TimeUnit.SECONDS).join();
        }
    }

    /** With the certificates of a directory, or without any if there is none. */
    private Config settings(String name, Optional<Path> tls) {
        Config settings = ConfigFactory.parseString("pekko.cluster.seed-node-timeout = 1s")
                .withFallback(ClusterSettings.of(cluster, cluster.node(name), true, List.of()));
        return tls.map(files -> ClusterSettings.of(TestCertificates.spec(files)).withFallback(settings))
                .orElse(settings);
    }

    private Optional<Path> certificates(String name) throws Exception {
        return Optional.of(TestCertificates.make(directory.resolve(name)));
    }

    private ActorSystem<?> start(Behavior<Void> guardian, Config settings) {
        ActorSystem<?> system = ActorSystems.create(guardian, ClusterSettings.systemName(cluster),
                SealedSerializer.sealed(settings, KeyFile.of(directory)),
                SealedSerializer.key(KeyFile.of(directory)));
        systems.add(system);
        return system;
    }

    private org.apache.pekko.actor.ActorSystem stranger(Config settings, boolean hasKey) {
        RunKey key = KeyFile.of(directory);
        // Without the key it has at least read the first bytes of a connection.
        Config own = hasKey
                ? SealedSerializer.sealed(settings, key)
                : SealedSerializer.magic(key).withFallback(settings);
        BootstrapSetup setup = BootstrapSetup.create(Optional.empty(), Optional.of(own), Optional.empty());
        return org.apache.pekko.actor.ActorSystem.create(ClusterSettings.systemName(cluster), hasKey
                ? ActorSystemSetup.create(setup, SealedSerializer.key(KeyFile.of(directory)))
                : ActorSystemSetup.create(setup));
    }

    private Behavior<Void> coordinator() {
        return Behaviors.setup(context -> {
            ClusterSingleton.get(context.getSystem()).init(SingletonActor.of(Behaviors.<String>setup(
                    _ -> Behaviors.receive(String.class).onSignal(PostStop.class, _ -> {
                        coordinatorEnded.countDown();
                        return Behaviors.same();
                    }).build()), "coordinator"));
            return Behaviors.empty();
        });
    }

    private static void awaitUp(ActorSystem<?> system, int count) {
        long began = System.nanoTime();
        while (up(system).size() < count) {
            assertTrue(System.nanoTime() - began < TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS), "no member in time");
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        }
    }

    private static List<String> up(ActorSystem<?> system) {
        List<String> up = new ArrayList<>();
        Cluster.get(system).state().getMembers().forEach(member -> {
            if (member.status().equals(MemberStatus.up())) {
                up.add(LostNodes.name(member));
            }
        });
        return up;
    }

    @ParameterizedTest
    @EnumSource
    void shouldAchieveNothing(Lack lack) throws Exception {
        cluster = TwoNodes.find();
        portOfNode = cluster.node("a").controlPort();
        Optional<Path> ours = lack == Lack.KEY_WITHOUT_TLS ? Optional.empty() : certificates("ours");
        ActorSystem<?> node = start(coordinator(), settings("a", ours));
        awaitUp(node, 1);
        NodeSpec a = cluster.node("a");
        String address = "pekko://" + ClusterSettings.systemName(cluster) + "@" + a.host() + ":" + a.controlPort();
        org.apache.pekko.actor.ActorSystem classic = stranger(settings("b", switch (lack) {
            case KEY_WITHOUT_TLS, CERTIFICATE -> Optional.empty();
            case KEY_WITH_TLS -> ours;
            case CERTIFICATE_OF_THE_AUTHORITY -> certificates("theirs");
        }), !lack.isOfKey());
        ActorSystem<?> stranger = Adapter.toTyped(classic);
        systems.add(stranger);
        Map<String, CompletableFuture<Object>> answers = new HashMap<>();
        for (String path : List.of("/user", "/user/*", "/system/cluster/core/daemon", "/system/*/*")) {
            answers.put(path, Patterns.ask(classic.actorSelection(address + path), new Identify(1),
                    Duration.ofSeconds(2)).toCompletableFuture());
        }
        String coordinator = address + "/system/singletonManagercoordinator/coordinator";
        classic.actorSelection(coordinator).tell(PoisonPill.getInstance(), null);
        classic.actorSelection(coordinator).tell(Kill.getInstance(), null);
        classic.actorSelection(address + "/system/cluster/core/daemon").tell(PoisonPill.getInstance(), null);
        classic.actorOf(Props.create(Implant.class)
                .withDeploy(new Deploy(new RemoteScope(AddressFromURIString.parse(address)))), "implant");
        org.apache.pekko.cluster.Cluster.get(classic).join(AddressFromURIString.parse(address));
        org.apache.pekko.cluster.Cluster.get(classic).down(AddressFromURIString.parse(address));
        answers.forEach((path, answer) -> assertThrows(ExecutionException.class,
                () -> answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS), path));
        // A node of the run joins meanwhile, at a port of its own: the cluster is at work.
        Config own = ConfigFactory.parseString("pekko.remote.artery.canonical.port = 0")
                .withFallback(settings("b", ours));
        ActorSystem<?> friend = start(Behaviors.empty(), own);
        awaitUp(node, 2);
        assertEquals(List.of("a", "b"), up(node).stream().sorted().toList());
        assertEquals(List.of(), up(stranger));
        assertEquals(1, coordinatorEnded.getCount());
        assertEquals(1, DEPLOYED.getCount());
        ActorIdentity found = (ActorIdentity) Patterns.ask(friend.classicSystem().actorSelection(address + "/user"),
                new Identify(2), Duration.ofSeconds(PATIENCE_SECONDS)).toCompletableFuture()
                .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertTrue(found.getActorRef().isPresent());
    }

    /** A frame of -4 bytes, on each of Pekko's streams. It is read for ever if the connection does not end. */
    @Test
    void shouldEndConnectionsThatBeginWithOtherBytes() throws Exception {
        cluster = TwoNodes.find();
        ActorSystem<?> node = start(Behaviors.empty(), settings("a", Optional.empty()));
        awaitUp(node, 1);
        NodeSpec a = cluster.node("a");
        for (int stream = 1; stream <= 3; stream++) {
            try (Socket stranger = new Socket(a.host(), a.controlPort())) {
                stranger.setSoTimeout((int) TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
                stranger.getOutputStream().write(new byte[]{'A', 'K', 'K', 'A', (byte) stream, -4, -1, -1, -1});
                assertTrue(isClosed(stranger), "stream " + stream + " is open after a frame of -4 bytes");
            }
        }
    }

    private static boolean isClosed(Socket stranger) throws IOException {
        try {
            return stranger.getInputStream().read() < 0;
        } catch (SocketTimeoutException _) {
            return false;
        } catch (SocketException _) {
            return true;
        }
    }

    @Test
    void shouldMakeOneKeyThatNoOtherUserReads() throws IOException {
        Path made = directory.resolve("run/of/mine");
        Set<RunKey> keys = ConcurrentHashMap.newKeySet();
        keys.add(KeyFile.of(made));
        Path file = made.resolve("run.key");
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(made)));
        String text = Files.readString(file);
        byte[] word = {1, 2, 3};
        byte[] proof = keys.iterator().next().proof("any", word, 3);
        assertTrue(KeyFile.of(made).isProof(proof, "any", word, 3));
        assertFalse(KeyFile.of(made).isProof(proof, "other", word, 3));
        assertFalse(KeyFile.of(directory.resolve("other")).isProof(proof, "any", word, 3));
        assertEquals(text, Files.readString(file));
        assertNotEquals(text, Files.readString(directory.resolve("other/run.key")));
        Files.writeString(file, "z".repeat(64) + "\n");
        assertTrue(assertThrows(UsageException.class, () -> KeyFile.of(made)).getMessage()
                .startsWith("the key of the run, " + file + ", cannot be used ("));
    }
}
