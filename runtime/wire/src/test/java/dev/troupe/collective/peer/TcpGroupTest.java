package dev.troupe.collective.peer;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.collective.CollectiveException;
import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.Crowd;
import dev.troupe.collective.Membership;
import dev.troupe.port.DataPort;
import dev.troupe.port.RunKey;
import dev.troupe.transport.Endpoint;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.tcp.Connections;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Members on three machines: over IPC within a machine, over connections between them. */
@Tag("real")
class TcpGroupTest extends HostsContract {
    private static final int HOSTS = 3;
    /** Two members of five share a machine. */
    private static final List<Integer> HOST_OF_MEMBER = List.of(0, 1, 2, 1, 0);

    private final List<Connections> connections = new ArrayList<>();

    @BeforeAll
    void startHosts() throws IOException {
        List<DataPort> ports = new ArrayList<>();
        List<Endpoint> endpoints = new ArrayList<>();
        for (int host = 0; host < HOSTS; host++) {
            InetSocketAddress address = new InetSocketAddress("127.0.0." + (1 + host), Host.freeTcpPort());
            ports.add(DataPort.open(address, RunKey.open()));
            endpoints.add(new Endpoint(address.getHostString(), address.getPort()));
        }
        for (int host = 0; host < HOSTS; host++) {
            hosts.add(Host.good());
            connections.add(new Connections(new NodeMap(host, List.of(0, 1, 2), endpoints, Set.of()), ports.get(host),
                    Optional.empty()));
            collectives.add(PeerCollectives.connect(hosts.getLast().directory(), Optional.of(connections.getLast())));
        }
    }

    @Override
    void closeWays() {
        connections.forEach(Connections::close);
    }

    @Override
    List<CollectiveGroup> join(Membership membership, int number, int epoch) {
        return IntStream.range(0, membership.size())
                .mapToObj(member -> collectives.get(HOST_OF_MEMBER.get(member)).join(membership, number, member, epoch,
                        new Pairs()))
                .toList();
    }

    /** The ways between members. */
    private static final class Pairs implements PairChannels {
        @Override
        public String channel(int from, int to) {
            return "aeron:ipc";
        }

        @Override
        public OptionalInt connectedNode(int from, int to) {
            int host = HOST_OF_MEMBER.get(to);
            return HOST_OF_MEMBER.get(from).equals(host) ? OptionalInt.empty() : OptionalInt.of(host);
        }
    }

    @Test
    void shouldReportALaterEpochAtOnce() {
        for (boolean isCallerLater : new boolean[]{true, false}) {
            Membership membership = new Membership("data", List.of(4, 5), Duration.ofSeconds(30));
            int number = nextNumber();
            CollectiveGroup earlier = collectives.get(isCallerLater ? 1 : 0).join(membership, number,
                    isCallerLater ? 1 : 0, 3, new Pairs());
            CollectiveGroup later = collectives.get(isCallerLater ? 0 : 1).join(membership, number,
                    isCallerLater ? 0 : 1, 4, new Pairs());
            open.addAll(List.of(earlier, later));
            String sentence = assertThrows(CollectiveException.class, earlier::barrier).getMessage();
            assertTrue(sentence.endsWith(": epoch 4 has begun"), sentence);
            earlier.close();
            CollectiveGroup again = collectives.get(isCallerLater ? 1 : 0).join(membership, number,
                    isCallerLater ? 1 : 0, 4, new Pairs());
            open.add(again);
            Crowd.play(List.of(again, later), CollectiveGroup::barrier);
        }
    }
}
