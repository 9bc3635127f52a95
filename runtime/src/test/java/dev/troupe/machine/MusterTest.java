package dev.troupe.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class MusterTest {
    private static final Map<String, String> TRAITS = Map.of("version", "1", "parallel.schedule", "1f1b");

    private final Muster muster = new Muster(
            new Cast(Map.of("a", List.of(0), "b", List.of(1)), TRAITS, Duration.ofSeconds(60), Hosting.Buddies.NONE),
            0);

    @Test
    void shouldBeCompleteOnceAllHaveCome() {
        assertEquals(Optional.empty(), muster.join("b", TRAITS));
        assertFalse(muster.isComplete());
        assertEquals(List.of("a"), muster.missing());
        assertEquals(Optional.empty(), muster.join("a", TRAITS));
        assertTrue(muster.isComplete());
        assertEquals(Optional.empty(), muster.overdue(Duration.ofHours(1).toNanos()));
    }

    @Test
    void shouldNameTheDifference() {
        String refusal = muster.join("b", Map.of("version", "1", "parallel.schedule", "gpipe")).orElseThrow();
        assertTrue(refusal.contains("parallel.schedule = gpipe, but the cluster has 1f1b"), refusal);
        assertTrue(muster.join("b", Map.of("version", "1")).orElseThrow().contains("parallel.schedule"));
        assertEquals(List.of("a", "b"), muster.missing());
    }

    @Test
    void shouldRefuseAStrangerAndASecondOfAName() {
        assertTrue(muster.join("c", TRAITS).orElseThrow().contains("the cluster's nodes are a, b"));
        assertEquals(Optional.empty(), muster.join("a", TRAITS));
        assertTrue(muster.join("a", TRAITS).orElseThrow().contains("joined already"));
    }

    @Test
    void shouldTakeAnotherProcessInPlaceOfOneThatEnded() {
        muster.join("a", TRAITS);
        muster.join("b", TRAITS);
        muster.leave("b");
        assertTrue(muster.isComplete(), "the run has begun, and goes on");
        assertEquals(List.of("a"), muster.joined());
        assertEquals(Optional.empty(), muster.join("b", TRAITS));
        assertTrue(muster.join("b", TRAITS).orElseThrow().contains("joined already"));
    }

    @Test
    void shouldMindTheStepsBehindANodeOnlyUntilTheRunBegins() {
        Map<String, String> cluster = Map.of(Cast.STEPS_BEHIND, "0");
        Muster begun = new Muster(
                new Cast(Map.of("a", List.of(0)), cluster, Duration.ofSeconds(60), Hosting.Buddies.NONE), 0);
        assertTrue(begun.join("a", Map.of(Cast.STEPS_BEHIND, "10")).orElseThrow().contains("steps behind = 10"));
        assertEquals(Optional.empty(), begun.join("a", cluster));
        begun.leave("a");
        assertEquals(Optional.empty(), begun.join("a", Map.of(Cast.STEPS_BEHIND, "10")));
    }

    /** A node that came back began at a checkpoint of this run; others that the next coordinator hears of, before. */
    @Test
    void shouldNotMindTheStepsBehindANodeOfARunUnderWay() {
        Muster next = new Muster(new Cast(Map.of("a", List.of(0), "b", List.of(1)), Map.of("version", "1"),
                Duration.ofSeconds(60), Hosting.Buddies.NONE), 0);
        assertEquals(Optional.empty(), next.join("a", Map.of("version", "1", Cast.STEPS_BEHIND, "10")));
        assertEquals(Optional.empty(), next.join("b", Map.of("version", "1", Cast.STEPS_BEHIND, "20")));
    }

    @Test
    void shouldSayWhoIsMissingWhenTimeIsUp() {
        muster.join("a", TRAITS);
        assertEquals(Optional.empty(), muster.overdue(Duration.ofSeconds(60).toNanos()));
        String overdue = muster.overdue(Duration.ofSeconds(61).toNanos()).orElseThrow();
        assertTrue(overdue.startsWith("node b did not join within 60 seconds"), overdue);
    }
}
