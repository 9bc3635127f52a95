package dev.troupe.protocol.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Two nodes with a rank each, and a third that keeps copies for both. */
class ReplicaTableTest {
    private static final ReplicaTable.Buddies SPARE = (_, present) -> present.contains("spare")
            ? Map.of("a", "spare", "b", "spare")
            : Map.of("a", "b", "b", "a");

    private final ReplicaTable replicas = new ReplicaTable(List.of("a", "b"), SPARE, 3);

    ReplicaTableTest() {
        replicas.join("a", Map.of());
        replicas.join("b", Map.of());
        replicas.join("spare", Map.of());
        assertTrue(replicas.chooseBuddies());
    }

    @Test
    void shouldChooseBuddiesOnceUntilNodesChange() {
        assertEquals(List.of("spare", "spare"), replicas.buddies());
        assertFalse(replicas.chooseBuddies());
        assertEquals(List.of(), replicas.lose("spare"));
        assertTrue(replicas.chooseBuddies());
        assertEquals(List.of("b", "a"), replicas.buddies());
    }

    @Test
    void shouldContinueFromTheCommitIfItsCopiesExist() {
        replicas.copied(1, "spare", 4);
        replicas.copied(1, "spare", 5);
        assertEquals(List.of(1), replicas.lose("b"));
        assertEquals(OptionalLong.of(5), replicas.recoverable(List.of(1), 5, 1));
        assertEquals(OptionalLong.of(5), replicas.recoverable(List.of(1), 6, 1), "one step back");
        assertEquals(OptionalLong.of(4), replicas.recoverable(List.of(1), 4, 1), "the older one is still there");
        assertEquals(OptionalLong.empty(), replicas.recoverable(List.of(1), 7, 1));
        assertEquals(OptionalLong.empty(), replicas.recoverable(List.of(0, 1), 5, 1), "none of rank 0");
    }

    /** The one that keeps copies from now on may have none yet. */
    @Test
    void shouldContinueFromTheStatesOfAJoiningNode() {
        replicas.join("late", Map.of(1, List.of(4L, 5L)));
        replicas.lose("b");
        assertEquals(OptionalLong.of(5), replicas.recoverable(List.of(1), 5, 1));
        assertEquals(OptionalLong.of(4), replicas.recoverable(List.of(1), 4, 1));
    }

    @Test
    void shouldMoveRanksToTheirCopiesAndReportSinceWhen() {
        replicas.copied(0, "spare", 4);
        replicas.lose("a");
        replicas.move(List.of(0), 4, 7);
        assertEquals(List.of("spare", "b"), replicas.hosts());
        assertEquals(Map.of("a", 7, "spare", 7), replicas.since());
    }

    @Test
    void shouldNotCountTheStateOfARankThatHasMovedAsACopy() {
        replicas.copied(0, "spare", 5);
        replicas.lose("a");
        replicas.move(List.of(0), 5, 7);
        replicas.copied(0, "spare", 5); // was said before
        assertEquals(OptionalLong.empty(), replicas.recoverable(List.of(0), 5, 1));
    }

    @Test
    void shouldNeedNoCopiesOfTheFirstWeights() {
        replicas.lose("a");
        assertEquals(OptionalLong.of(3), replicas.recoverable(List.of(0), 3, 1));
        replicas.lose("spare");
        replicas.move(List.of(0), 3, 1);
        assertEquals(List.of("b", "b"), replicas.hosts());
    }

    @Test
    void shouldWaitForCopiesOfACommitOfEveryRankThatHasABuddy() {
        assertEquals(List.of(), replicas.uncopied(3), "the first weights");
        replicas.copied(0, "spare", 4);
        replicas.copied(1, "a", 4);
        assertEquals(List.of(1), replicas.uncopied(4), "another node has them, but may free them");
        replicas.giveUpCopies(List.of(1));
        assertEquals(List.of(), replicas.uncopied(4));
        assertEquals(OptionalLong.empty(), replicas.recoverable(List.of(1), 6, 1));
        assertTrue(replicas.chooseBuddies());
        assertEquals(List.of(1), replicas.uncopied(4));
    }

    @Test
    void shouldFindCopiesAtTheFormerBuddyUntilTheNewOneHasSome() {
        replicas.copied(0, "spare", 4);
        replicas.lose("spare");
        replicas.chooseBuddies();
        replicas.copied(0, "b", 4);
        replicas.join("spare", Map.of());
        assertTrue(replicas.chooseBuddies());
        replicas.lose("a");
        assertEquals(OptionalLong.of(4), replicas.recoverable(List.of(0), 4, 1));
        replicas.move(List.of(0), 4, 1);
        assertEquals(List.of("b", "b"), replicas.hosts());
    }

    @Test
    void shouldPreferTheBuddyIfSeveralHaveCopies() {
        replicas.copied(0, "b", 4);
        replicas.copied(0, "spare", 4);
        replicas.lose("a");
        replicas.move(List.of(0), 4, 1);
        assertEquals(List.of("spare", "b"), replicas.hosts());
    }

    @Test
    void shouldForgetTheCopiesOfALostNode() {
        replicas.copied(0, "spare", 4);
        replicas.lose("spare");
        replicas.join("spare", Map.of());
        replicas.chooseBuddies();
        assertEquals(List.of(0, 1), replicas.uncopied(4));
    }
}
