package dev.troupe.protocol.supervisor;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("plan")
class RunRestartsTest {
    private static final OptionalLong NONE = OptionalLong.empty();
    private static final OptionalLong TEN = OptionalLong.of(10);
    private static final OptionalLong TWENTY = OptionalLong.of(20);

    @Test
    void shouldEndAtTheLimitOfRestartsWithoutANewCheckpoint() {
        RunRestarts restarts = new RunRestarts(true, 2, TEN);
        assertTrue(restarts.next(TEN));
        assertTrue(restarts.next(TEN));
        assertFalse(restarts.next(TEN));
    }

    @Test
    void shouldBeginAnewWithEachCheckpoint() {
        RunRestarts restarts = new RunRestarts(true, 2, NONE);
        assertTrue(restarts.next(TEN));
        assertTrue(restarts.next(TEN));
        assertTrue(restarts.next(TWENTY));
        assertTrue(restarts.next(TWENTY));
        assertFalse(restarts.next(TWENTY));
    }

    @Test
    void shouldBeginAgainWithoutACheckpoint() {
        RunRestarts restarts = new RunRestarts(true, 2, NONE);
        assertTrue(restarts.next(NONE));
        assertTrue(restarts.next(NONE));
        assertFalse(restarts.next(NONE));
    }

    @Test
    void shouldStartNoneAgainWithoutRecovery() {
        assertFalse(new RunRestarts(false, 3, NONE).next(NONE));
        assertFalse(new RunRestarts(false, 3, NONE).next(TEN));
        assertFalse(new RunRestarts(true, 0, NONE).next(TEN));
    }
}
