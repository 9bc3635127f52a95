package dev.troupe.collective.aeron;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.collective.CollectiveException;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.GroupContract;
import dev.troupe.collective.Membership;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Members in turns on two machines: over IPC to those of the same one, over UDP to the others. */
@Tag("real")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UdpGroupTest extends GroupContract {
    private final List<CollectiveGroup> open = new ArrayList<>();
    private final List<Host> hosts = new ArrayList<>();
    private final List<AeronCollectives> collectives = new ArrayList<>();
    private final List<String> channels = new ArrayList<>();
    private int groups;

    @BeforeAll
    void startHosts() {
        for (int host = 0; host < 2; host++) {
            hosts.add(Host.good());
            collectives.add(AeronCollectives.connect(hosts.getLast().directory()));
            channels.add("aeron:udp?endpoint=localhost:" + Host.freePort());
        }
    }

    @AfterEach
    void closeGroups() {
        open.forEach(CollectiveGroup::close);
        open.clear();
    }

    @AfterAll
    void stopHosts() {
        collectives.forEach(AeronCollectives::close);
        hosts.forEach(Host::close);
        hosts.forEach(host -> assertFalse(Files.exists(host.directory())));
    }

    @Override
    protected List<CollectiveGroup> members(int size, Duration deadline) {
        Membership membership = new Membership("tensor", IntStream.range(10, 10 + size).boxed().toList(), deadline);
        int number = groups++;
        List<CollectiveGroup> members = IntStream.range(0, size)
                .mapToObj(member -> collectives.get(member % 2).join(membership, number, member, 0, this::channel))
                .toList();
        open.addAll(members);
        return members;
    }

    private String channel(int from, int to) {
        return from % 2 == to % 2 ? "aeron:ipc" : channels.get(to % 2);
    }

    @Test
    void shouldNameAChannelThatIsNotOfThisMachine() {
        CollectiveException refusal = assertThrows(CollectiveException.class,
                () -> collectives.getFirst().join(new Membership("data", List.of(4, 5), Duration.ofSeconds(1)),
                        groups++, 1, 0,
                        (_, _) -> "aeron:udp?endpoint=203.0.113.7:40123"));
        assertTrue(refusal.getMessage().startsWith(
                "member 1 (rank 5) cannot join the data group [4, 5] in epoch 0: "), refusal.getMessage());
        assertTrue(refusal.getMessage().contains("203.0.113.7:40123"), refusal.getMessage());
        assertEquals(OptionalInt.of(1), refusal.culprit());
    }
}
