package dev.troupe.protocol.membership;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.RunSettings;
import dev.troupe.protocol.WarmUpReport;
import dev.troupe.protocol.replica.ReplicaTable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Three nodes with a rank each; one led and is lost. The states that its successor counts as copies, by the reports of the
 * others: both have the states after 7 and 8 steps, of which 8 are committed. A process has its node's name.
 */
class TakeoverReportsTest {
    private static final int TERM = 2;
    private static final long REPORT_NANOS = 100;
    private static final Map<Integer, List<Long>> BOTH = Map.of(0, List.of(7L, 8L), 1, List.of(7L, 8L), 2,
            List.of(7L, 8L));
    private static final Map<Integer, List<Long>> NEWEST = Map.of(0, List.of(8L), 1, List.of(8L), 2, List.of(8L));

    private long now;
    private final MembershipMachine<String> membership = new MembershipMachine<>(
            new Roster(Map.of("a", List.of(0), "b", List.of(1), "c", List.of(2)), Map.of(), Duration.ofSeconds(20),
                    ReplicaTable.Buddies.NONE),
            new RunSettings(3, 0, 20, _ -> 0.5, 0, LossScale.none(0), 0, 0, -1, true,
                    List.of(List.of(0), List.of(1), List.of(2)), 2),
            TERM, REPORT_NANOS, new Surroundings() {
                @Override
                public long nowNanos() {
                    return now;
                }

                @Override
                public Set<String> present() {
                    return Set.of("b", "c");
                }

                @Override
                public OptionalLong newestCheckpoint() {
                    return OptionalLong.empty();
                }

                @Override
                public long committedSteps() {
                    return 8;
                }
            });

    @Test
    void shouldCountAllStatesIfEveryPresentNodeHasReported() {
        join("b");
        assertEquals(Map.of("b", BOTH, "c", BOTH), added(join("c")));
    }

    /** The node that has not reported may be in the update that overwrites the states after 7 steps on all of them. */
    @Test
    void shouldNotCountOlderStatesThanTheCommitIfAPresentNodeHasNotReported() {
        join("b");
        now = REPORT_NANOS + 1;
        assertEquals(Map.of("b", NEWEST), added(membership.on(new MembershipEvent.Tick<>())));
    }

    @Test
    void shouldCountTheCommitOnANodeThatReportsLate() {
        join("b");
        now = REPORT_NANOS + 1;
        assertFalse(membership.on(new MembershipEvent.Tick<>()).isEmpty(), "it takes over");
        assertEquals(Map.of("c", NEWEST), added(join("c")));
    }

    private List<MembershipCommand<String>> join(String node) {
        List<Commit> commits = List.of(new Commit(7, LossScale.none(7)), new Commit(8, LossScale.none(8)));
        return membership.on(new MembershipEvent.Joined<>(node, node, true, 0, Map.of(), TERM,
                Optional.of(new NodeReport(1, List.of("a", "b", "c"), Map.of(), commits, BOTH)),
                WarmUpReport.NOTHING_TO_RUN));
    }

    /** Returns for each node that the run has from now on the states that count. */
    private static Map<String, Map<Integer, List<Long>>> added(List<MembershipCommand<String>> commands) {
        Map<String, Map<Integer, List<Long>>> added = new TreeMap<>();
        for (MembershipCommand<String> command : commands) {
            if (command instanceof MembershipCommand.AddNode<String>(String name, var versions)) {
                added.put(name, versions);
            }
        }
        return added;
    }
}
