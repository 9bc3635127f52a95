package dev.troupe.run.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.ConfigFactory;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.port.DataPort;
import dev.troupe.port.RunKey;
import dev.troupe.run.cluster.liveness.LivenessConnections;
import dev.troupe.run.cluster.liveness.Sockets;
import dev.troupe.run.cluster.liveness.StandIn;
import dev.troupe.run.cluster.liveness.TwoNodes;
import dev.troupe.run.setup.RunPosition;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.cluster.ClusterEvent;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.cluster.typed.Subscribe;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two members with the settings that nodes have; the connection of b is the test's. */
@Tag("actor")
class DeadNodesTest {
    private static final long PATIENCE_SECONDS = 60;

    private final List<ActorSystem<?>> systems = new ArrayList<>();
    // As a follows them; its cluster's state may be older.
    private final Set<String> members = ConcurrentHashMap.newKeySet();
    private final CountDownLatch joined = new CountDownLatch(1);
    private final CountDownLatch removed = new CountDownLatch(1);
    private ClusterSpec cluster;
    private LivenessConnections connections;
    private StandIn process;

    private void findPorts(String host) throws IOException {
        cluster = TwoNodes.find('"' + host + '"');
        connections = new LivenessConnections(cluster, cluster.node("a"), Sockets.PLAIN,
                DataPort.open(new InetSocketAddress(host, cluster.node("a").dataPort()), RunKey.open()));
    }

    @AfterEach
    void endAll() throws Exception {
        connections.close();
        if (process != null) {
            process.close();
        }
        for (ActorSystem<?> system : systems) {
            system.terminate();
            system.getWhenTerminated().toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
    }

    private <T> ActorSystem<T> start(String node, Behavior<T> guardian, String more) {
        ActorSystem<T> system = ActorSystem.create(guardian, ClusterSettings.systemName(cluster),
                ConfigFactory.parseString("""
                        pekko.cluster.seed-node-timeout = 1 s
                        pekko.cluster.failure-detector.acceptable-heartbeat-pause = 1 h
                        """ + more).withFallback(ClusterSettings.of(cluster, cluster.node(node), true, List.of())));
        systems.add(system);
        return system;
    }

    private Behavior<ClusterEvent.MemberEvent> guardianOfA() {
        return Behaviors.setup(context -> {
            context.spawn(DeadNodes.follow(cluster, connections, new RunPosition()), "dead-nodes");
            Cluster.get(context.getSystem()).subscriptions()
                    .tell(Subscribe.create(context.getSelf(), ClusterEvent.MemberEvent.class));
            return Behaviors.receive(ClusterEvent.MemberEvent.class).onAnyMessage(event -> {
                String name = LostNodes.name(event.member());
                boolean isRemoved = event instanceof ClusterEvent.MemberRemoved;
                if (isRemoved) {
                    members.remove(name);
                } else {
                    members.add(name);
                }
                if (name.equals("b")) {
                    (isRemoved ? removed : joined).countDown();
                }
                return Behaviors.same();
            }).build();
        });
    }

    /** No silence is noticed here, and of two halves the one with the higher address would end. */
    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void shouldRemoveAMemberAfterItsProcessHasEndedAndContinueAlone(String host) throws Exception {
        findPorts(host);
        start("a", guardianOfA(), "");
        ActorSystem<?> b = start("b", Behaviors.empty(), "");
        process = new StandIn(cluster, cluster.node("b"), Cluster.get(b).selfMember().uniqueAddress().longUid());
        assertTrue(joined.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
        Socket line = process.awaitCall();
        assertEquals(1, removed.getCount());
        process.close();
        line.close();
        assertTrue(removed.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
        // It lives, so it learns that it is considered dead, and ends.
        b.getWhenTerminated().toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertEquals(Set.of("a"), members);
    }

    /** It has all that a node of the run has, and the name of one, but not the address that the file has for it. */
    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void shouldTakeOutAMemberThatTheFileDoesNotName(String host) throws Exception {
        findPorts(host);
        start("a", guardianOfA(), "");
        ActorSystem<?> unlisted = start("b", Behaviors.empty(), "pekko.remote.artery.canonical.port = 0");
        assertTrue(joined.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
        assertTrue(removed.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
        unlisted.getWhenTerminated().toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertEquals(Set.of("a"), members);
    }
}
