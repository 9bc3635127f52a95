package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RespawnsTest {
    private static final Duration SHORT = Duration.ofSeconds(59);
    private static final Duration LONG = Duration.ofSeconds(60);

    @Test
    void shouldEndWithSoManyInARow() {
        Respawns respawns = new Respawns(2);
        assertTrue(respawns.next("a", SHORT));
        assertTrue(respawns.next("a", SHORT));
        assertFalse(respawns.next("a", SHORT));
        assertTrue(respawns.next("b", SHORT), "each node has its own");
    }

    @Test
    void shouldBeginAnewWhereAProcessWasAtWorkForAWhile() {
        Respawns respawns = new Respawns(2);
        for (int time = 0; time < 100; time++) {
            assertTrue(respawns.next("a", time % 2 == 0 ? LONG : SHORT));
        }
        assertTrue(respawns.next("a", LONG));
        assertTrue(respawns.next("a", SHORT));
        assertFalse(respawns.next("a", SHORT));
    }

    @Test
    void shouldStartNoneAgainWhereNoneIsAskedFor() {
        assertFalse(new Respawns(0).next("a", LONG));
    }
}
