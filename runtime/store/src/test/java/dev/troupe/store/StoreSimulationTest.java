package dev.troupe.store;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever is lost, repeated, cut off, ended or taken in: each push is applied once on every server that holds it, clocks do
 * not go back, and the store comes to its end.
 */
@Tag("simulation")
class StoreSimulationTest {
    private static final int WALKS = 300;
    private static final int MOVES = 400;

    @ParameterizedTest
    @ValueSource(longs = {0, 1, Long.MAX_VALUE})
    void shouldApplyEachPushOnceOnRandomWalks(long delay) {
        for (int seed = 0; seed < WALKS; seed++) {
            walk(seed, new Consistency(delay), ServerMachine.Rules.WHOLE);
        }
    }

    /** The receiver of every message in turn ends right after it has received it. */
    @Test
    void shouldLoseNothingIfAServerEndsBetweenReceiptAndAcknowledgementAtAnyPoint() {
        for (Consistency consistency : List.of(Consistency.SEQUENTIAL, Consistency.EVENTUAL)) {
            StoreWorld whole = new StoreWorld(7, consistency, ServerMachine.Rules.WHOLE);
            whole.finish();
            for (int message = 0; message < whole.delivered(); message++) {
                endAt(message, consistency, ServerMachine.Rules.WHOLE);
            }
        }
    }

    static void endAt(int message, Consistency consistency, ServerMachine.Rules rules) {
        StoreWorld world = new StoreWorld(7, consistency, rules).endingAt(message);
        try {
            world.finish();
        } catch (AssertionError | RuntimeException found) {
            throw new AssertionError("if the receiver of message " + message + " ends: " + found.getMessage(), found);
        }
    }

    static void walk(int seed, Consistency consistency, ServerMachine.Rules rules) {
        StoreWorld world = new StoreWorld(seed, consistency, rules);
        try {
            for (int move = 0; move < MOVES; move++) {
                world.move();
            }
            world.finish();
        } catch (AssertionError | RuntimeException found) {
            throw new AssertionError("seed " + seed + ", " + consistency + ": " + found.getMessage(), found);
        }
    }
}
