package dev.troupe.run.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.typesafe.config.ConfigFactory;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.engine.conformance.share.Dealt;
import dev.troupe.look.page.RunPage;
import dev.troupe.run.cluster.liveness.TwoNodes;
import dev.troupe.run.cluster.status.NodeStatus;
import dev.troupe.run.cluster.status.StatusBoard;
import dev.troupe.run.cluster.status.StatusQuery;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.cluster.ClusterEvent;
import org.apache.pekko.cluster.typed.Cluster;
import org.apache.pekko.cluster.typed.Subscribe;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two members in this JVM, with the settings that nodes have. */
@Tag("actor")
@Dealt(4)
class MembersTest {
    private static final long PATIENCE_SECONDS = 60;

    private final List<ActorSystem<?>> systems = new ArrayList<>();
    private final CountDownLatch joined = new CountDownLatch(2);

    @AfterEach
    void endAll() throws Exception {
        for (ActorSystem<?> system : systems) {
            system.terminate();
            awaitEnd(system);
        }
    }

    private static void awaitEnd(ActorSystem<?> system) throws Exception {
        system.getWhenTerminated().toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    private ActorSystem<?> start(ClusterSpec cluster, String node, LostNodes lost, String more) {
        ActorSystem<ClusterEvent.MemberUp> system = ActorSystem.create(Behaviors.setup(context -> {
            context.spawn(lost.follow(), "lost-nodes");
            Cluster.get(context.getSystem()).subscriptions()
                    .tell(Subscribe.create(context.getSelf(), ClusterEvent.MemberUp.class));
            return Behaviors.receive(ClusterEvent.MemberUp.class).onMessage(ClusterEvent.MemberUp.class, up -> {
                if (LostNodes.name(up.member()).equals("b")) {
                    joined.countDown();
                }
                return Behaviors.same();
            }).build();
        }), ClusterSettings.systemName(cluster), ConfigFactory.parseString(more)
                .withFallback(ClusterSettings.of(cluster, cluster.node(node), true, List.of())));
        systems.add(system);
        return system;
    }

    @Test
    void shouldMeetOverIpv6() throws Exception {
        ClusterSpec cluster = TwoNodes.find("\"::1\"");
        ActorSystem<?> a = start(cluster, "a", new LostNodes(), "");
        start(cluster, "b", new LostNodes(), "");
        assertTrue(joined.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
        assertEquals(Set.of("a", "b"), LostNodes.present(a));
        NodeStatus status = NodeStatus.of("a", List.of(0));
        StatusBoard.of(a.classicSystem()).set(status);
        ManagementPort.open(a.classicSystem(), cluster, cluster.node("a"),
                new RunPage(Path.of("target")).routes());
        try (StatusQuery query = new StatusQuery(Optional.empty())) {
            Optional<NodeStatus> answer = Optional.empty();
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (answer.isEmpty() && System.nanoTime() < deadline) { // a question has its own patience
                answer = query.of(cluster.node("a"));
            }
            assertEquals(Optional.of(status), answer);
        }
    }

    /** Its own downing removes the members one by one, the lost one too, before anybody asks why it ended. */
    @Test
    void shouldReportWhyTheMinorityOfAPartitionEnded() throws Exception {
        ClusterSpec cluster = TwoNodes.find();
        String quick = ControlLink.SETTING + " = on\n" + """
                pekko.cluster.failure-detector.acceptable-heartbeat-pause = 3 s
                pekko.cluster.split-brain-resolver.stable-after = 1 s
                """;
        ActorSystem<?> a = start(cluster, "a", new LostNodes(), quick);
        LostNodes lost = new LostNodes();
        ActorSystem<?> b = start(cluster, "b", lost, quick);
        assertTrue(joined.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
        new ControlLink(b).cut(Duration.ofSeconds(PATIENCE_SECONDS));
        awaitEnd(b);
        assertEquals("node b lost a, and what is left is no majority of the cluster (of two halves, the one with the"
                + " lowest address), so it stopped; if the others continue the run it rejoins with --rejoin, which"
                + " launch does by itself", lost.whyEnded("b"));
        assertEquals(Set.of("a"), LostNodes.present(a));
    }
}
