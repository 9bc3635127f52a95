package dev.troupe.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Three nodes with a rank each, the first of which led and is gone. */
class SuccessionTest {
    private static final Commit FIRST = commit(2);

    @Test
    void shouldGoOnFromTheNewestCommitOfWhichEveryRankIsThere() {
        Testimony b = told(1, List.of(7L, 8L), Map.of(0, List.of(7L), 1, List.of(7L, 8L)));
        Testimony c = told(1, List.of(6L, 7L), Map.of(2, List.of(7L, 8L)));
        Succession found = Succession.of(Map.of("b", b, "c", c), FIRST).orElseThrow();
        assertEquals(
                new Succession(2, commit(7), Optional.of(commit(6)), List.of("b", "b", "c"), Map.of("a", 2, "b", 2)),
                found, "nobody has rank 0 after 8 steps");
    }

    @Test
    void shouldLeaveRanksWhereTheyAreWhereTheyHaveTheState() {
        Map<Integer, List<Long>> all = Map.of(0, List.of(5L), 1, List.of(5L), 2, List.of(5L));
        Succession found = Succession.of(Map.of("b", told(3, List.of(5L), all), "c", told(4, List.of(5L), all)), FIRST)
                .orElseThrow();
        assertEquals(List.of("b", "b", "c"), found.hosts());
        assertEquals(5, found.epoch(), "after the latest of all");
    }

    @Test
    void shouldBeginAgainWhereOnlyTheFirstWeightsAreThere() {
        Succession found = Succession.of(Map.of("c", told(0, List.of(), Map.of())), FIRST).orElseThrow();
        assertEquals(FIRST, found.commit());
        assertEquals(List.of("c", "c", "c"), found.hosts());
    }

    @Test
    void shouldNotGoOnFromAStateThatNobodyWasToldIsCommitted() {
        Testimony all = told(0, List.of(), Map.of(0, List.of(3L), 1, List.of(3L), 2, List.of(3L)));
        assertEquals(FIRST, Succession.of(Map.of("b", all), FIRST).orElseThrow().commit());
    }

    @Test
    void shouldWaitForAllThatAreThereButNotForEver() {
        Gathering gathering = new Gathering(100);
        Set<String> present = Set.of("b", "c");
        assertFalse(gathering.isEnough(present, present, 0), "no run is under way");
        gathering.hear("b", told(0, List.of(), Map.of()), 50);
        assertFalse(gathering.isEnough(present, Set.of("b"), 60));
        assertTrue(gathering.isEnough(present, Set.of("b", "c"), 60));
        assertTrue(gathering.isEnough(present, Set.of("b"), 151));
        gathering.leave("b");
        assertFalse(gathering.isEnough(present, present, 151));
    }

    private static Commit commit(long stepsDone) {
        return new Commit(stepsDone, LossScale.none(stepsDone));
    }

    private static Testimony told(int epoch, List<Long> commits, Map<Integer, List<Long>> versions) {
        return new Testimony(epoch, List.of("a", "b", "c"), Map.of(),
                commits.stream().map(SuccessionTest::commit).toList(), versions);
    }
}
