package dev.troupe.run.cluster.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.collective.peer.PeerCollectives;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.model.gpt2.Gpt2;
import dev.troupe.optimizer.Optimizer;
import dev.troupe.parallel.Zero;
import dev.troupe.plan.TrainingPlan;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.stage.StageSettings;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.driver.DriverHandle;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Streams of a machine that a takeover adds, counted by hand. */
class TakeoverTest {
    private static final TransportSettings SETTINGS = TransportSettings.defaults();
    private static final long OWN = bytes(endpoint(0), Set.of());
    /** A stream to another node of the machine, and one between machines. */
    private static final Map<String, Long> STREAMS = Map.of("near", bytes(endpoint(0), Set.of(1)) - OWN, "far",
            (bytes(endpoint(1), Set.of(1)) - OWN) / 2);

    private static long bytes(Endpoint other, Set<Integer> peers) {
        return DriverHandle.streamBytes(new NodeMap(0, List.of(0), List.of(endpoint(0), other), peers), 0, SETTINGS);
    }

    private static Endpoint endpoint(int host) {
        return new Endpoint("host-" + host, 0);
    }

    private static TrainingPlan plan(int pipeline, int data) {
        return TrainingPlan.of(new Gpt2(pipeline, 8, 2, 8, 8, false, 1e-5).spec(),
                new StageSettings(1, 8, 4, new Optimizer.Sgd(0)), "uniform", Schedules.named("1f1b"),
                new ParallelLayout(pipeline, data, 1), false, Zero.NONE, 1, 1, 2);
    }

    /** {@code nodeOfRanks} has a digit for each rank, {@code hostOfNodes} one for each node. */
    private static long bytes(TrainingPlan plan, String nodeOfRanks, String hostOfNodes, int host) {
        List<Integer> nodeOfRank = nodeOfRanks.chars().map(Character::getNumericValue).boxed().toList();
        List<Integer> hosts = hostOfNodes.chars().map(Character::getNumericValue).boxed().toList();
        List<Endpoint> endpoints = hosts.stream().map(TakeoverTest::endpoint).toList();
        return Takeover.mostDriverBytes(plan,
                IntStream.range(0, hosts.size()).filter(node -> hosts.get(node) == host)
                        .mapToObj(
                                node -> new NodeMap(node, nodeOfRank, endpoints, Peers.of(plan, nodeOfRank, node)))
                        .toList(),
                SETTINGS);
    }

    @ParameterizedTest(name = "ranks on nodes {0}, nodes on machines {1}: {3} {4} streams on machine {2}")
    @CsvSource({"01,00,0,0,near", // all on one node
            "012,000,0,2,near", // the middle by an end, or an end by the middle: it and the node that is left
            "0123,0000,0,4,near", // 1 by 3: 3 with 0 and 2
            "01,000,0,2,near", // 0 or 1 by the standby
            "01,001,0,2,far", // on machine 0 node 0 with node 2 there: out and in
            "01,001,1,2,far", // on machine 1 node 2: out and in
            "01,012,2,2,far", "0011,00,0,0,near"})
    void shouldCountTheStreamsOfWhoTakesOver(String nodeOfRanks, String hostOfNodes, int host, int streams,
            String kind) {
        assertEquals(streams * STREAMS.get(kind), bytes(plan(nodeOfRanks.length(), 1), nodeOfRanks, hostOfNodes, host));
    }

    @Test
    void shouldCountTheGroupsThatAreMadeAnew() {
        // Two places of two ranks: [0, 1] and [2, 3] on nodes of their own. Of a place that moves onto its other half
        // nothing is between nodes any more; onto another node, both members of its group write anew.
        TrainingPlan plan = plan(2, 2);
        long groups = 2 * PeerCollectives.STREAM_BYTES;
        assertEquals(4 * STREAMS.get("near") + groups, bytes(plan, "0123", "0000", 0));
    }
}
