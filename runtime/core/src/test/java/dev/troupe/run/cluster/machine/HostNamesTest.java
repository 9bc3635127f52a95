package dev.troupe.run.cluster.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.troupe.plan.UsageException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A name service and a clock that are the test's: every pause is a second. */
class HostNamesTest {
    private static final String ONE = "node b has no address.";
    private static final String OTHER = "node c has no address.";

    private final List<String> told = new ArrayList<>();
    private long nowNanos;

    private void await(Queue<List<String>> answers) {
        HostNames.await(() -> answers.size() > 1 ? answers.remove() : answers.element(), Duration.ofSeconds(10),
                told::add, () -> nowNanos, () -> nowNanos += TimeUnit.SECONDS.toNanos(1));
    }

    @Test
    void shouldReportNothingIfAllAreKnown() {
        await(new ArrayDeque<>(List.of(List.of())));
        assertEquals(List.of(), told);
        assertEquals(0, nowNanos);
    }

    @Test
    void shouldReportTheMissingNodesWhenTheyChange() {
        await(new ArrayDeque<>(List.of(List.of(ONE, OTHER), List.of(ONE, OTHER), List.of(OTHER), List.of())));
        assertEquals(List.of("waiting for a host to be known: " + ONE + " " + OTHER,
                "waiting for a host to be known: " + OTHER), told);
        assertEquals(TimeUnit.SECONDS.toNanos(3), nowNanos);
    }

    @Test
    void shouldGiveUpAfterTheTimeNodesWaitForEachOther() {
        UsageException refused = assertThrows(UsageException.class,
                () -> await(new ArrayDeque<>(List.of(List.of(ONE)))));
        assertEquals(ONE + " It was looked for over 10 seconds (cluster.join-timeout).", refused.getMessage());
        assertEquals(TimeUnit.SECONDS.toNanos(11), nowNanos);
    }
}
