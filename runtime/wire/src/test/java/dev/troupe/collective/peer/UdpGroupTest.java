package dev.troupe.collective.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.collective.CollectiveException;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Membership;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Members alternately on two machines: over IPC within a machine, over UDP between them. */
@Tag("real")
class UdpGroupTest extends HostsContract {
    private final List<String> channels = new ArrayList<>();

    @BeforeAll
    void startHosts() {
        for (int host = 0; host < 2; host++) {
            hosts.add(Host.good());
            collectives.add(PeerCollectives.connect(hosts.getLast().directory()));
            channels.add("aeron:udp?endpoint=localhost:" + Host.freePort());
        }
    }

    @Override
    List<CollectiveGroup> join(Membership membership, int number, int epoch) {
        return IntStream.range(0, membership.size())
                .mapToObj(member -> collectives.get(member % 2).join(membership, number, member, epoch, this::channel))
                .toList();
    }

    private String channel(int from, int to) {
        return from % 2 == to % 2 ? "aeron:ipc" : channels.get(to % 2);
    }

    @Test
    void shouldNameAChannelThatIsNotOfThisMachine() {
        CollectiveException refusal = assertThrows(CollectiveException.class,
                () -> collectives.getFirst().join(new Membership("data", List.of(4, 5), Duration.ofSeconds(1)),
                        nextNumber(), 1, 0,
                        (_, _) -> "aeron:udp?endpoint=203.0.113.7:40123"));
        assertTrue(refusal.getMessage().startsWith(
                "member 1 (rank 5) cannot join the data group [4, 5] in epoch 0: "), refusal.getMessage());
        assertTrue(refusal.getMessage().contains("203.0.113.7:40123"), refusal.getMessage());
        assertEquals(OptionalInt.of(1), refusal.culprit());
    }
}
