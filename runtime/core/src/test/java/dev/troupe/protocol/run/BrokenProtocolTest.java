package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of the sweep: it finds each of these breaches, and none where the protocol is whole. */
@Tag("simulation")
class BrokenProtocolTest {
    private static final RunShape SHAPE = new RunShape("1f1b", 2, 1, 3, true, 2);
    private static final long OUT_OF_ORDER = 7;

    @Test
    void shouldFindNothingWhereTheProtocolIsWhole() {
        assertDoesNotThrow(() -> sweep(Protocol.WHOLE));
    }

    @Test
    void shouldFindADuplicateThatIsAccepted() {
        assertFound(new Protocol(true, true, 0), "bit for bit");
    }

    @Test
    void shouldFindAnOldEpochThatIsAccepted() {
        assertFound(new Protocol(false, false, 0), "the epoch of what landed");
    }

    @Test
    void shouldFindALogThatIsCutOneShort() {
        assertFound(new Protocol(true, false, 1), "the run is stuck");
    }

    private static void assertFound(Protocol broken, String how) {
        String found = assertThrows(AssertionError.class, () -> sweep(broken)).getMessage();
        assertTrue(found.contains(how), found);
    }

    private static void sweep(Protocol protocol) {
        FaultSweep sweep = new FaultSweep(SHAPE, OUT_OF_ORDER, World.Copies.SENT, protocol);
        sweep.points(1, 0).forEach(sweep::tries);
    }
}
