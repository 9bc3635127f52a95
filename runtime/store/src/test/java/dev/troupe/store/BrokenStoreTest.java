package dev.troupe.store;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The simulation finds each rule that a store lacks. */
@Tag("simulation")
class BrokenStoreTest {
    private static final int WALKS = 300;

    private static void assertFound(ServerMachine.Rules rules, String what) {
        AssertionError found = assertThrows(AssertionError.class, () -> {
            for (int seed = 0; seed < WALKS; seed++) {
                StoreSimulationTest.walk(seed, Consistency.EVENTUAL, rules);
            }
        });
        assertTrue(found.getMessage().contains(what), found.getMessage());
    }

    @Test
    void shouldFindAnAcknowledgementBeforeTheCopies() {
        assertFound(new ServerMachine.Rules(false, true, true, true, true), "the sums of segment");
    }

    @Test
    void shouldFindCopiesWithoutSequenceNumbers() {
        assertFound(new ServerMachine.Rules(true, false, true, true, true), "the store is stuck");
    }

    @Test
    void shouldFindMessagesOfAnEarlierEpoch() {
        assertFound(new ServerMachine.Rules(true, true, false, true, true), "the messages have no end");
    }

    @Test
    void shouldFindAnOwnerThatTrustsItsOwnState() {
        assertFound(new ServerMachine.Rules(true, true, true, false, true), "the store is stuck");
    }

    @Test
    void shouldFindARepeatedPushThatIsAppliedAgain() {
        assertFound(new ServerMachine.Rules(true, true, true, true, false), "the sums of segment");
    }
}
