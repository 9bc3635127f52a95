package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.RunSettings;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Tests of the sweep: it finds each of these breaches, and none where the protocol is whole. */
@Tag("simulation")
class BrokenProtocolTest {
    private static final RunShape SHAPE = new RunShape("1f1b", 2, 1, 3, true, 2);
    private static final RunShape ON_A_GRID = new RunShape("1f1b", 2, 1, 2, true, 2, new Grid(2, 2));
    private static final long OUT_OF_ORDER = 7;

    @Test
    void shouldFindNothingWhereTheProtocolIsWhole() {
        assertDoesNotThrow(() -> sweep(SHAPE, Protocol.WHOLE, FaultSweep.STEPS + 1));
    }

    @Test
    void shouldFindADuplicateThatIsAccepted() {
        assertFound(new Protocol(true, true, 0, false, false, true), "bit for bit");
    }

    @Test
    void shouldFindAnOldEpochThatIsAccepted() {
        assertFound(new Protocol(false, false, 0, false, false, true), "the epoch of what landed");
    }

    @Test
    void shouldFindALogThatIsCutOneShort() {
        assertFound(new Protocol(true, false, 1, false, false, true), "the run is stuck");
    }

    @Test
    void shouldFindAManifestWithAPartOfAnOlderAttempt() {
        assertDoesNotThrow(() -> runWithLateParts(Protocol.WHOLE));
        assertFound(() -> runWithLateParts(new Protocol(true, false, 0, true, false, true)),
                "the parts of the checkpoint after 2 steps");
    }

    @Test
    void shouldFindARunThatEndsBeforeItsLastCheckpointStands() {
        assertFound(new Protocol(true, false, 0, false, true, true), "the run is over, and after 2 steps only");
    }

    @Test
    void shouldFindAMemberOfAnEarlierEpochInACollective() {
        assertFound(() -> sweep(ON_A_GRID, new Protocol(true, false, 0, false, false, false), FaultSweep.STEPS),
                "what the members of");
    }

    private static void assertFound(Protocol broken, String how) {
        assertFound(() -> sweep(SHAPE, broken, FaultSweep.STEPS), how);
    }

    private static void assertFound(Executable run, String how) {
        String found = assertThrows(AssertionError.class, run).getMessage();
        assertTrue(found.contains(how), found);
    }

    private static void sweep(RunShape shape, Protocol protocol, int steps) {
        FaultSweep sweep = new FaultSweep(shape, OUT_OF_ORDER, World.Copies.SENT, steps, protocol);
        sweep.points(1, 0).forEach(sweep::tries);
    }

    /** Parts come last, and the run gives up the first checkpoint for which it waits: its parts come in the second. */
    private static void runWithLateParts(Protocol protocol) {
        RunSettings settings = new RunSettings(SHAPE.rankCount(), 0, 3, _ -> 0.1, 1, LossScale.none(0), 0, 1, -1, true,
                SHAPE.plan().places(), 1);
        boolean[] hasGivenUp = new boolean[1];
        new Simulation(SHAPE, settings, new Truth(SHAPE.plan(), settings),
                new World(SHAPE.pipeline(), 0, World.Copies.NONE), protocol)
                .run(moves -> IntStream.range(0, moves.size()).filter(move -> !moves.get(move).name().contains("part"))
                        .findFirst().orElse(0), run -> hasGivenUp[0] |= !hasGivenUp[0] && run.giveUpCheckpoint());
        assertTrue(hasGivenUp[0], "the run never waited for a checkpoint");
    }
}
