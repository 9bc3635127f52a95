package dev.troupe.collective.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.ChildJvm;
import dev.troupe.collective.CollectiveException;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Membership;
import dev.troupe.collective.Reduction;
import dev.troupe.engine.DataType;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.link.LinkTransport;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two JVMs that share one media driver. */
@Tag("real")
@Timeout(120)
class TwoProcessesTest {
    private static final int[] ELEMENTS = {1, 1000, 300_001};
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    /** The other process: member 1, which does its part and leaves, or dies on the way. */
    static final class Peer {
        private Peer() {
        }

        public static void main(String[] arguments) {
            try (PeerCollectives collectives = PeerCollectives.connect(Path.of(arguments[0]));
                    CollectiveGroup group = join(collectives, 1, DEADLINE)) {
                if (arguments[1].equals("die")) {
                    group.barrier();
                    Runtime.getRuntime().halt(3);
                }
                play(group);
            }
        }
    }

    private static CollectiveGroup join(PeerCollectives collectives, int member, Duration deadline) {
        return collectives.join(new Membership("data", List.of(4, 5), deadline), 0, member, 0);
    }

    /** Throws if a result does not come from two members. */
    private static void play(CollectiveGroup group) {
        for (int elements : ELEMENTS) {
            try (Arena arena = Arena.ofShared()) {
                MemorySegment values = arena.allocate(4L * elements);
                for (int i = 0; i < elements; i++) {
                    values.setAtIndex(ValueLayout.JAVA_FLOAT, i, value(i, group.member()));
                }
                group.allReduce(values, DataType.FLOAT32, Reduction.SUM);
                for (int i = 0; i < elements; i++) {
                    assertEquals(value(i, 0) + value(i, 1), values.getAtIndex(ValueLayout.JAVA_FLOAT, i));
                }
                group.broadcast(values.fill((byte) group.member()), 1);
                assertEquals(-1, values.mismatch(arena.allocate(4L * elements).fill((byte) 1)));
            }
        }
        group.barrier();
    }

    private static float value(int index, int member) {
        return 1f / (1 + index + 7 * member);
    }

    @Test
    void shouldReduceAndSpreadBetweenTwoProcesses() throws Exception {
        try (LinkTransport transport = LinkTransport.start(NodeMap.single(1), TransportSettings.defaults());
                PeerCollectives collectives = PeerCollectives.connect(transport.driverDirectory())) {
            Process peer = start(transport.driverDirectory(), "play");
            try (CollectiveGroup group = join(collectives, 0, DEADLINE)) {
                play(group);
                assertTrue(peer.waitFor(60, TimeUnit.SECONDS));
                assertEquals(0, peer.exitValue(), "the other process found another result");
            } finally {
                peer.destroyForcibly();
            }
        }
    }

    @Tag("long")
    @Test
    void shouldNameAMemberAfterTheDeathOfItsProcess() throws Exception {
        try (LinkTransport transport = LinkTransport.start(NodeMap.single(1), TransportSettings.defaults());
                PeerCollectives collectives = PeerCollectives.connect(transport.driverDirectory())) {
            Process peer = start(transport.driverDirectory(), "die");
            try (CollectiveGroup group = join(collectives, 0, Duration.ofSeconds(10))) {
                group.barrier();
                assertTrue(peer.waitFor(60, TimeUnit.SECONDS));
                assertEquals(3, peer.exitValue());
                CollectiveException failure = assertThrows(CollectiveException.class, () -> play(group));
                assertEquals(OptionalInt.of(1), failure.culprit());
                assertTrue(failure.getMessage().contains("member 1 (rank 5) did not come within 10.0 s"),
                        failure.getMessage());
            } finally {
                peer.destroyForcibly();
            }
        }
    }

    private static Process start(Path driver, String part) throws IOException {
        return ChildJvm.of(Peer.class, driver.toString(), part).inheritIO().start();
    }
}
