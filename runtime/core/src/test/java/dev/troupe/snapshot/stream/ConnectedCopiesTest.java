package dev.troupe.snapshot.stream;

import static dev.troupe.snapshot.stream.CopyingNode.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.collective.peer.Host;
import dev.troupe.port.DataPort;
import dev.troupe.port.RunKey;
import dev.troupe.rank.snapshot.SampleState;
import dev.troupe.snapshot.stream.CopyingNode.Copied;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.tcp.Connections;
import dev.troupe.transport.tcp.Relay;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Copies between two nodes of different machines over connections, with a cable between them and no media driver. */
@Tag("real")
class ConnectedCopiesTest {
    private static final int RANK = 7;
    private static final int LARGE = 16 << 20;
    private static final Path NOWHERE = Path.of("nowhere");

    private final List<CopyingNode> nodes = new ArrayList<>();
    private Relay cable;

    private void open(int self, List<Endpoint> endpoints, InetSocketAddress port) throws IOException {
        NodeMap map = new NodeMap(self, List.of(0, 1), endpoints, Set.of());
        Connections connections = new Connections(map, DataPort.open(port, RunKey.open()), Optional.empty());
        nodes.add(new CopyingNode(map, NOWHERE, Optional.of(connections), 10 + self, false));
    }

    @BeforeEach
    void start() throws IOException {
        InetSocketAddress one = new InetSocketAddress("127.0.0.1", Host.freeTcpPort());
        cable = new Relay("127.0.0.2", new InetSocketAddress("127.0.0.2", Host.freeTcpPort()));
        List<Endpoint> endpoints = List.of(new Endpoint("127.0.0.1", one.getPort()),
                new Endpoint("127.0.0.2", cable.port()));
        open(0, endpoints, one);
        open(1, endpoints, cable.target());
    }

    @AfterEach
    void stop() throws IOException {
        nodes.forEach(CopyingNode::close);
        cable.close();
    }

    @Test
    void shouldCopyBothWaysBitForBit() throws InterruptedException {
        CopyingNode here = nodes.get(0);
        CopyingNode there = nodes.get(1);
        // Nothing; one element; sizes around a part with a header and around a frame; many frames.
        int[][] sizes = {{}, {1}, {2048}, {2049}, {32 << 10}, {(32 << 10) + 1}, {3, 100_000, 1}, {LARGE}};
        for (int stage = 0; stage < sizes.length; stage++) {
            try (SampleState state = new SampleState(sizes[stage])) {
                for (long steps = 1; steps <= 2; steps++) {
                    state.keep(here.snapshots, RANK, stage, steps);
                    state.keep(there.snapshots, RANK + 1, stage, steps);
                    here.copies.send(1, 11, RANK, stage, steps);
                    there.copies.send(0, 10, RANK + 1, stage, steps);
                    assertEquals(new Copied(RANK, stage, steps), there.next());
                    assertEquals(new Copied(RANK + 1, stage, steps), here.next());
                    state.requireKept(there.snapshots, RANK, stage, steps);
                    state.requireKept(here.snapshots, RANK + 1, stage, steps);
                }
            }
        }
        await(() -> here.copies.counters().sent() == 2 * sizes.length, "all copies are counted");
        assertEquals(0, there.copies.counters().refused());
    }

    @Test
    void shouldBeginACopyAgainAfterItsConnectionBreaks() throws Exception {
        CopyingNode here = nodes.get(0);
        CopyingNode there = nodes.get(1);
        try (SampleState state = new SampleState(LARGE)) {
            state.keep(here.snapshots, RANK, 0, 1);
            cable.cut(cable.carried() + LARGE);
            here.copies.send(1, 11, RANK, 0, 1);
            assertEquals(new Copied(RANK, 0, 1), there.next());
            state.requireKept(there.snapshots, RANK, 0, 1);
        }
        assertTrue(here.copies.counters().brokenOff() >= 1, here.copies.counters()::toString);
        await(() -> there.copies.counters().refused() >= 1, "the end of the first copy is noticed");
    }

    @Test
    void shouldRefuseACopyThatIsDamagedOnTheWayAndTakeTheNext() throws Exception {
        CopyingNode here = nodes.get(0);
        CopyingNode there = nodes.get(1);
        try (SampleState state = new SampleState(LARGE)) {
            for (long steps = 1; steps <= 2; steps++) {
                state.keep(here.snapshots, RANK, 0, steps);
            }
            cable.flip(cable.carried() + LARGE);
            here.copies.send(1, 11, RANK, 0, 1);
            await(() -> there.copies.counters().refused() == 1, "the damage is noticed");
            here.copies.send(1, 11, RANK, 0, 2);
            assertEquals(new Copied(RANK, 0, 2), there.next());
            state.requireKept(there.snapshots, RANK, 0, 2);
            assertEquals(List.of(2L), there.snapshots.versions(RANK, 0));
        }
    }
}
