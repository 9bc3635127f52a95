package dev.troupe.protocol.supervisor;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RestartBudgetTest {
    private static final Duration SHORT = Duration.ofSeconds(59);
    private static final Duration LONG = Duration.ofSeconds(60);

    @Test
    void shouldEndAtTheLimitOfRestartsInARow() {
        RestartBudget restartBudget = new RestartBudget(2);
        assertTrue(restartBudget.next("a", SHORT));
        assertTrue(restartBudget.next("a", SHORT));
        assertFalse(restartBudget.next("a", SHORT));
        assertTrue(restartBudget.next("b", SHORT), "each node has its own");
    }

    @Test
    void shouldBeginAnewIfAProcessWasAtWorkForAWhile() {
        RestartBudget restartBudget = new RestartBudget(2);
        for (int time = 0; time < 100; time++) {
            assertTrue(restartBudget.next("a", time % 2 == 0 ? LONG : SHORT));
        }
        assertTrue(restartBudget.next("a", LONG));
        assertTrue(restartBudget.next("a", SHORT));
        assertFalse(restartBudget.next("a", SHORT));
    }

    @Test
    void shouldStartNoneAgainIfNoneIsAskedFor() {
        assertFalse(new RestartBudget(0).next("a", LONG));
    }
}
