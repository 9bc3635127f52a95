package dev.troupe.collective.peer;

import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.troupe.collective.CollectiveGroup;
import dev.troupe.collective.GroupContract;
import dev.troupe.collective.Membership;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.TestInstance;

/** The tests of groups with members on several machines, which live for all tests of a class. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class HostsContract extends GroupContract {
    final List<CollectiveGroup> open = new ArrayList<>();
    final List<Host> hosts = new ArrayList<>();
    /** Those of each machine. */
    final List<PeerCollectives> collectives = new ArrayList<>();
    private int groups;

    /** Joins all members of a group in an epoch. */
    abstract List<CollectiveGroup> join(Membership membership, int number, int epoch);

    /** Closes what lies between the machines. */
    void closeWays() {
    }

    /** The number of a group that no other one of these machines has. */
    int nextNumber() {
        return groups++;
    }

    @Override
    protected List<CollectiveGroup> members(int size, Duration deadline) {
        List<CollectiveGroup> members = join(
                new Membership("tensor", IntStream.range(10, 10 + size).boxed().toList(), deadline), nextNumber(), 0);
        open.addAll(members);
        return members;
    }

    @AfterEach
    void closeGroups() {
        open.forEach(CollectiveGroup::close);
        open.clear();
    }

    @AfterAll
    void stopHosts() {
        collectives.forEach(PeerCollectives::close);
        closeWays();
        hosts.forEach(Host::close);
        hosts.forEach(host -> assertFalse(Files.exists(host.directory())));
    }
}
