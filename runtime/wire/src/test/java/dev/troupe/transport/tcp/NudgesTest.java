package dev.troupe.transport.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class NudgesTest {
    private static final long MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);
    private final Nudges nudges = new Nudges();

    @Test
    void shouldComeAfterPausesThatGrow() {
        assertEquals(List.of(2L, 10L, 42L, 170L), dueMillis(7, 0));
        assertEquals(Long.MAX_VALUE, nudges.nanosUntilDue(7, 0));
    }

    @Test
    void shouldBeginAgainWithEachFrame() {
        assertEquals(List.of(2L, 10L, 42L, 170L), dueMillis(7, 0));
        assertEquals(List.of(1_002L, 1_010L, 1_042L, 1_170L), dueMillis(8, 1_000));
    }

    @Test
    void shouldBeginAgainWhenTheKernelHasAllBytes() {
        nudges.nanosUntilDue(7, 0);
        nudges.startAgain();
        assertFalse(nudges.isDue(400 * MILLISECOND));
        assertEquals(List.of(502L, 510L, 542L, 670L), dueMillis(7, 500));
    }

    @Test
    void shouldReturnTheTimeUntilTheNext() {
        assertEquals(2 * MILLISECOND, nudges.nanosUntilDue(7, 0));
        assertTrue(nudges.isDue(3 * MILLISECOND));
        assertEquals(7 * MILLISECOND, nudges.nanosUntilDue(7, 4 * MILLISECOND));
    }

    /** When they are due, asked every millisecond of a second. */
    private List<Long> dueMillis(long written, long from) {
        List<Long> due = new ArrayList<>();
        for (long millis = from; millis < from + 1_000; millis++) {
            if (nudges.isDue(millis * MILLISECOND)) {
                due.add(millis);
            }
            nudges.nanosUntilDue(written, millis * MILLISECOND);
        }
        return due;
    }
}
