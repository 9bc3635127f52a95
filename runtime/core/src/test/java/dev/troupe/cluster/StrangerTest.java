package dev.troupe.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import dev.troupe.cluster.guard.KeyFile;
import dev.troupe.cluster.guard.SealedSerializer;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.liveness.TwoNodes;
import dev.troupe.plan.UsageException;
import dev.troupe.port.RunKey;
import dev.troupe.run.ActorSystems;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorIdentity;
import org.apache.pekko.actor.ActorSelection;
import org.apache.pekko.actor.AddressFromURIString;
import org.apache.pekko.actor.Deploy;
import org.apache.pekko.actor.ExtendedActorSystem;
import org.apache.pekko.actor.Identify;
import org.apache.pekko.actor.Kill;
import org.apache.pekko.actor.PoisonPill;
import org.apache.pekko.actor.Props;
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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program without the run's key that speaks Pekko's protocol to the control port of a node. */
@Tag("actor")
class StrangerTest {
    private static final long PATIENCE_SECONDS = 60;
    private static final long LOOK_AGAIN_NANOS = 20_000_000;

    private final List<ActorSystem<?>> systems = new ArrayList<>();
    private final CountDownLatch coordinatorEnded = new CountDownLatch(1);
    private static final CountDownLatch DEPLOYED = new CountDownLatch(1);
    private static volatile int portOfNode;
    private ClusterSpec cluster;
    private ActorSystem<?> node;

    @TempDir
    private Path directory;

    /** What a stranger would have run in a node. Both systems of the test have one name, so it counts where it runs. */
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

    @BeforeEach
    void startANode() throws Exception {
        cluster = TwoNodes.find();
        portOfNode = cluster.node("a").controlPort();
        node = start(coordinator(), settings("a"));
        awaitUp(node, 1);
    }

    @AfterEach
    void endAll() throws Exception {
        for (ActorSystem<?> system : systems.reversed()) {
            system.terminate();
            system.getWhenTerminated().toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
    }

    private Config settings(String name) {
        return ClusterSettings.of(cluster, cluster.node(name), true, List.of());
    }

    private ActorSystem<?> start(Behavior<Void> guardian, Config settings) {
        ActorSystem<?> system = ActorSystems.create(guardian, ClusterSettings.systemName(cluster),
                SealedSerializer.sealed(settings), SealedSerializer.key(KeyFile.of(directory)));
        systems.add(system);
        return system;
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

    @Test
    void shouldAchieveNothingWithoutTheKey() throws Exception {
        NodeSpec a = cluster.node("a");
        String address = "pekko://" + ClusterSettings.systemName(cluster) + "@" + a.host() + ":" + a.controlPort();
        org.apache.pekko.actor.ActorSystem classic = org.apache.pekko.actor.ActorSystem
                .create(ClusterSettings.systemName(cluster), settings("b"));
        ActorSystem<?> stranger = Adapter.toTyped(classic);
        systems.add(stranger);
        String coordinator = address + "/system/singletonManagercoordinator/coordinator";
        for (String path : List.of("/user", "/user/*", "/system/cluster/core/daemon", "/system/*/*")) {
            ActorSelection all = classic.actorSelection(address + path);
            assertThrows(Exception.class, () -> Patterns.ask(all, new Identify(1), Duration.ofSeconds(2))
                    .toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS), path);
        }
        classic.actorSelection(coordinator).tell(PoisonPill.getInstance(), null);
        classic.actorSelection(coordinator).tell(Kill.getInstance(), null);
        classic.actorSelection(address + "/system/cluster/core/daemon").tell(PoisonPill.getInstance(), null);
        classic.actorOf(Props.create(Implant.class)
                .withDeploy(new Deploy(new RemoteScope(AddressFromURIString.parse(address)))), "implant");
        org.apache.pekko.cluster.Cluster.get(classic).join(AddressFromURIString.parse(address));
        org.apache.pekko.cluster.Cluster.get(classic).down(AddressFromURIString.parse(address));
        // A node of the run joins meanwhile, at a port of its own: the cluster is at work.
        Config own = ConfigFactory.parseString("pekko.remote.artery.canonical.port = 0")
                .withFallback(settings("b"));
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
