package dev.troupe.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Two nodes with a rank each, and a third that keeps copies for both. */
class HostingTest {
    private static final Hosting.Buddies SPARE = (_, present) -> present.contains("spare")
            ? Map.of("a", "spare", "b", "spare")
            : Map.of("a", "b", "b", "a");

    private final Hosting hosting = new Hosting(List.of("a", "b"), SPARE, 3);

    HostingTest() {
        hosting.join("a");
        hosting.join("b");
        hosting.join("spare");
        assertTrue(hosting.chooseBuddies());
    }

    @Test
    void shouldChooseBuddiesOnceUntilNodesChange() {
        assertEquals(List.of("spare", "spare"), hosting.buddies());
        assertFalse(hosting.chooseBuddies());
        assertEquals(List.of(), hosting.lose("spare"));
        assertTrue(hosting.chooseBuddies());
        assertEquals(List.of("b", "a"), hosting.buddies());
    }

    @Test
    void shouldGoOnFromTheCommitWhereCopiesOfItAreThere() {
        hosting.copied(1, "spare", 4);
        hosting.copied(1, "spare", 5);
        assertEquals(List.of(1), hosting.lose("b"));
        assertEquals(OptionalLong.of(5), hosting.recoverable(List.of(1), 5));
        assertEquals(OptionalLong.of(5), hosting.recoverable(List.of(1), 6), "one step back");
        assertEquals(OptionalLong.of(4), hosting.recoverable(List.of(1), 4), "the older one is still there");
        assertEquals(OptionalLong.empty(), hosting.recoverable(List.of(1), 7));
        assertEquals(OptionalLong.empty(), hosting.recoverable(List.of(0, 1), 5), "none of rank 0");
    }

    /** The one that keeps copies from now on may have none yet. */
    @Test
    void shouldGoOnFromWhatNodesSaidTheyHaveToACoordinatorThatTakesOver() {
        hosting.hear(Map.of("a", new Testimony(2, List.of("a", "b"), Map.of(), List.of(), Map.of(1, List.of(4L, 5L)))));
        hosting.lose("b");
        assertEquals(OptionalLong.of(5), hosting.recoverable(List.of(1), 5));
        assertEquals(OptionalLong.of(4), hosting.recoverable(List.of(1), 4));
    }

    @Test
    void shouldMoveRanksToTheirCopiesAndSaySinceWhen() {
        hosting.copied(0, "spare", 4);
        hosting.lose("a");
        hosting.move(List.of(0), 4, 7);
        assertEquals(List.of("spare", "b"), hosting.hosts());
        assertEquals(Map.of("a", 7, "spare", 7), hosting.since());
    }

    @Test
    void shouldNotTakeForACopyWhatARankHasThatHasComeToIt() {
        hosting.copied(0, "spare", 5);
        hosting.lose("a");
        hosting.move(List.of(0), 5, 7);
        hosting.copied(0, "spare", 5); // was said before
        assertEquals(OptionalLong.empty(), hosting.recoverable(List.of(0), 5));
    }

    @Test
    void shouldNeedNoCopiesOfTheFirstWeights() {
        hosting.lose("a");
        assertEquals(OptionalLong.of(3), hosting.recoverable(List.of(0), 3));
        hosting.lose("spare");
        hosting.move(List.of(0), 3, 1);
        assertEquals(List.of("b", "b"), hosting.hosts());
    }

    @Test
    void shouldWaitForCopiesOfACommitOfEveryRankThatHasABuddy() {
        assertEquals(List.of(), hosting.uncopied(3), "the first weights");
        hosting.copied(0, "spare", 4);
        hosting.copied(1, "a", 4);
        assertEquals(List.of(1), hosting.uncopied(4), "another node has them, but may free them");
        hosting.giveUpCopies(List.of(1));
        assertEquals(List.of(), hosting.uncopied(4));
        assertEquals(OptionalLong.empty(), hosting.recoverable(List.of(1), 6));
        assertTrue(hosting.chooseBuddies());
        assertEquals(List.of(1), hosting.uncopied(4));
    }

    @Test
    void shouldFindCopiesWhereTheyWereUntilTheNewBuddyHasSome() {
        hosting.copied(0, "spare", 4);
        hosting.lose("spare");
        hosting.chooseBuddies();
        hosting.copied(0, "b", 4);
        hosting.join("spare");
        assertTrue(hosting.chooseBuddies());
        hosting.lose("a");
        assertEquals(OptionalLong.of(4), hosting.recoverable(List.of(0), 4));
        hosting.move(List.of(0), 4, 1);
        assertEquals(List.of("b", "b"), hosting.hosts());
    }

    @Test
    void shouldPreferTheBuddyWhereSeveralHaveCopies() {
        hosting.copied(0, "b", 4);
        hosting.copied(0, "spare", 4);
        hosting.lose("a");
        hosting.move(List.of(0), 4, 1);
        assertEquals(List.of("spare", "b"), hosting.hosts());
    }

    @Test
    void shouldForgetWhatALostNodeKept() {
        hosting.copied(0, "spare", 4);
        hosting.lose("spare");
        hosting.join("spare");
        hosting.chooseBuddies();
        assertEquals(List.of(0, 1), hosting.uncopied(4));
    }
}
