package dev.troupe.protocol.membership;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.replica.ReplicaTable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class JoinBarrierTest {
    private static final Map<String, String> KEYS = Map.of("version", "1", "parallel.schedule", "1f1b");

    private final JoinBarrier joinBarrier = new JoinBarrier(
            new Roster(Map.of("a", List.of(0), "b", List.of(1)), KEYS, Duration.ofSeconds(60),
                    ReplicaTable.Buddies.NONE),
            0);

    @Test
    void shouldBeCompleteOnceAllHaveCome() {
        assertEquals(Optional.empty(), joinBarrier.join("b", KEYS));
        assertFalse(joinBarrier.isComplete());
        assertEquals(List.of("a"), joinBarrier.missing());
        assertEquals(Optional.empty(), joinBarrier.join("a", KEYS));
        assertTrue(joinBarrier.isComplete());
        assertEquals(Optional.empty(), joinBarrier.overdue(Duration.ofHours(1).toNanos()));
    }

    @Test
    void shouldCompareProductsOfNodesThatHaveAChoice() {
        Map<String, String> own = Map.of(Roster.products("cpu"), "onednn (oneDNN 3.11.0)");
        Map<String, List<Integer>> nodes = Map.of("a", List.of(0), "b", List.of(1), "c", List.of(2), "d", List.of(3));
        JoinBarrier barrier = new JoinBarrier(new Roster(nodes, own,
                Duration.ofSeconds(60), ReplicaTable.Buddies.NONE), 0);
        assertEquals(Optional.empty(), barrier.join("a", own));
        assertEquals(Optional.empty(), barrier.join("b", Map.of())); // on an engine without a choice
        assertEquals(Optional.empty(), barrier.join("d", Map.of(Roster.products("cuda"), "own")));
        String refusal = barrier.join("c", Map.of(Roster.products("cpu"), "openblas (OpenBLAS 0.3.31)")).orElseThrow();
        assertTrue(
                refusal.startsWith("node c was refused: it has engine.products on cpu = openblas (OpenBLAS 0.3.31), but"
                        + " the cluster has onednn (oneDNN 3.11.0)"),
                refusal);
    }

    /** The configuration is the same, so that changing it is no remedy. */
    @Test
    void shouldReportHowUnlikeEnginesReplayTheSameBlocks() {
        Map<String, String> own = Map.of(Roster.BLOCKS_AHEAD, "3");
        JoinBarrier barrier = new JoinBarrier(new Roster(Map.of("a", List.of(0), "b", List.of(1)), own,
                Duration.ofSeconds(60), ReplicaTable.Buddies.NONE), 0);
        assertEquals(
                Optional.of("node b was refused: it has blocks within training.recompute-ahead = 2, but the cluster"
                        + " has 3; engines keep blocks in different sizes: set training.recompute-ahead to a number of blocks in"
                        + " place of an amount of memory"),
                barrier.join("b", Map.of(Roster.BLOCKS_AHEAD, "2")));
    }

    @Test
    void shouldNameTheDifference() {
        String refusal = joinBarrier.join("b", Map.of("version", "1", "parallel.schedule", "gpipe")).orElseThrow();
        assertTrue(refusal.contains("parallel.schedule = gpipe, but the cluster has 1f1b"), refusal);
        assertTrue(joinBarrier.join("b", Map.of("version", "1")).orElseThrow().contains("parallel.schedule"));
        assertEquals(List.of("a", "b"), joinBarrier.missing());
    }

    @Test
    void shouldRefuseAStrangerAndASecondOfAName() {
        assertTrue(joinBarrier.join("c", KEYS).orElseThrow().contains("the cluster's nodes are a, b"));
        assertEquals(Optional.empty(), joinBarrier.join("a", KEYS));
        assertTrue(joinBarrier.join("a", KEYS).orElseThrow().contains("joined already"));
    }

    @Test
    void shouldTakeAnotherProcessInPlaceOfOneThatEnded() {
        joinBarrier.join("a", KEYS);
        joinBarrier.join("b", KEYS);
        joinBarrier.leave("b");
        assertTrue(joinBarrier.isComplete(), "the run has begun, and continues");
        assertEquals(List.of("a"), joinBarrier.joined());
        assertEquals(Optional.empty(), joinBarrier.join("b", KEYS));
        assertTrue(joinBarrier.join("b", KEYS).orElseThrow().contains("joined already"));
    }

    @Test
    void shouldConsiderTheStepsOfANodeOnlyUntilTheRunBegins() {
        Map<String, String> cluster = Map.of(Roster.STEPS_BEHIND, "0");
        JoinBarrier begun = new JoinBarrier(
                new Roster(Map.of("a", List.of(0)), cluster, Duration.ofSeconds(60), ReplicaTable.Buddies.NONE), 0);
        assertTrue(begun.join("a", Map.of(Roster.STEPS_BEHIND, "10")).orElseThrow().contains("steps behind = 10"));
        assertEquals(Optional.empty(), begun.join("a", cluster));
        begun.leave("a");
        assertEquals(Optional.empty(), begun.join("a", Map.of(Roster.STEPS_BEHIND, "10")));
    }

    /** A node that came back began at a checkpoint of this run; other nodes of the next coordinator, before. */
    @Test
    void shouldIgnoreTheStepsOfANodeThatJoinsARunInProgress() {
        JoinBarrier next = new JoinBarrier(new Roster(Map.of("a", List.of(0), "b", List.of(1)), Map.of("version", "1"),
                Duration.ofSeconds(60), ReplicaTable.Buddies.NONE), 0);
        assertEquals(Optional.empty(), next.join("a", Map.of("version", "1", Roster.STEPS_BEHIND, "10")));
        assertEquals(Optional.empty(), next.join("b", Map.of("version", "1", Roster.STEPS_BEHIND, "20")));
    }

    @Test
    void shouldReportWhoIsMissingWhenTimeIsUp() {
        joinBarrier.join("a", KEYS);
        assertEquals(Optional.empty(), joinBarrier.overdue(Duration.ofSeconds(60).toNanos()));
        String overdue = joinBarrier.overdue(Duration.ofSeconds(61).toNanos()).orElseThrow();
        assertTrue(overdue.startsWith("node b did not join within 60 seconds"), overdue);
    }
}
