package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.membership.RecoveryQuorum;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Three nodes with a rank each; the first led and is lost. */
class CoordinatorFailoverTest {
    private static final Commit FIRST = commit(2);

    @Test
    void shouldContinueFromTheNewestCommitThatEveryRankHas() {
        NodeReport b = report(1, List.of(7L, 8L), Map.of(0, List.of(7L), 1, List.of(7L, 8L)));
        NodeReport c = report(1, List.of(6L, 7L), Map.of(2, List.of(7L, 8L)));
        CoordinatorFailover found = CoordinatorFailover.of(Map.of("b", b, "c", c), FIRST, 1).orElseThrow();
        assertEquals(
                new CoordinatorFailover(2, commit(7), Optional.of(commit(6)), List.of("b", "b", "c"),
                        Map.of("a", 2, "b", 2)),
                found, "nobody has rank 0 after 8 steps");
    }

    @Test
    void shouldLeaveRanksOnNodesThatHaveTheirState() {
        Map<Integer, List<Long>> all = Map.of(0, List.of(5L), 1, List.of(5L), 2, List.of(5L));
        CoordinatorFailover found = CoordinatorFailover
                .of(Map.of("b", report(3, List.of(5L), all), "c", report(4, List.of(5L), all)), FIRST, 1)
                .orElseThrow();
        assertEquals(List.of("b", "b", "c"), found.hosts());
        assertEquals(5, found.epoch(), "after the latest of all");
    }

    @Test
    void shouldBeginAgainIfOnlyTheFirstWeightsExist() {
        CoordinatorFailover found = CoordinatorFailover.of(Map.of("c", report(0, List.of(), Map.of())), FIRST, 1)
                .orElseThrow();
        assertEquals(FIRST, found.commit());
        assertEquals(List.of("c", "c", "c"), found.hosts());
    }

    @Test
    void shouldNotContinueFromAStateThatNobodyKnowsAsCommitted() {
        NodeReport all = report(0, List.of(), Map.of(0, List.of(3L), 1, List.of(3L), 2, List.of(3L)));
        assertEquals(FIRST, CoordinatorFailover.of(Map.of("b", all), FIRST, 1).orElseThrow().commit());
    }

    @Test
    void shouldWaitForAllPresentNodesButNotForEver() {
        RecoveryQuorum quorum = new RecoveryQuorum(100);
        Set<String> present = Set.of("b", "c");
        assertFalse(quorum.isEnough(present, present, 0), "no run is under way");
        quorum.add("b", report(0, List.of(), Map.of()), 50);
        assertFalse(quorum.isEnough(present, Set.of("b"), 60));
        assertTrue(quorum.isEnough(present, Set.of("b", "c"), 60));
        assertTrue(quorum.isEnough(present, Set.of("b"), 151));
        quorum.leave("b");
        assertFalse(quorum.isEnough(present, present, 151));
    }

    /**
     * A node's rank has the states after 7 and 8 steps as it reports, and overwrites the older one with the state after 9.
     */
    @Test
    void shouldWaitLongerToGoBackBeyondTheNewestCommitOrToEnd() {
        RecoveryQuorum quorum = new RecoveryQuorum(100);
        Set<String> present = Set.of("b", "c");
        Set<String> joined = Set.of("b");
        quorum.add("b", report(0, List.of(7L, 8L), Map.of(0, List.of(7L, 8L))), 50);
        assertTrue(quorum.mayDecide(Optional.of(commit(8)), present, joined, 151));
        for (Optional<Commit> from : List.of(Optional.of(commit(7)), Optional.<Commit>empty())) {
            assertFalse(quorum.mayDecide(from, present, joined, 350));
            assertTrue(quorum.mayDecide(from, present, present, 151), "no other node has the state after 8");
            assertTrue(quorum.mayDecide(from, present, joined, 351), "not for ever");
        }
    }

    private static Commit commit(long stepsDone) {
        return new Commit(stepsDone, LossScale.none(stepsDone));
    }

    private static NodeReport report(int epoch, List<Long> commits, Map<Integer, List<Long>> versions) {
        return new NodeReport(epoch, List.of("a", "b", "c"), Map.of(),
                commits.stream().map(CoordinatorFailoverTest::commit).toList(), versions);
    }
}
