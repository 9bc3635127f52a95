package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.RunSettings;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Tests of the sweep: it finds each of these breaches, and none if the protocol is whole. */
@Tag("simulation")
class BrokenProtocolTest {
    private static final RunShape SHAPE = new RunShape("1f1b", 2, 1, 3, true, 2);
    private static final RunShape ON_A_GRID = new RunShape("1f1b", 2, 1, 2, true, 2, new Grid(2, 2));
    private static final long OUT_OF_ORDER = 8;
    /** The shares of the points of a whole protocol, of which a build tries one. */
    private static final int SHARES = 5;
    private static final int PARTED_WALKS = 170;
    private static final int LEADERLESS_WALKS = 100;
    private static final int LATE_WALKS = 50;
    private static final Pattern LEADS_ON = Pattern.compile("is lost|asks to take part|another coordinator begins");

    @Test
    void shouldFindNothingIfTheProtocolIsWhole() {
        assertDoesNotThrow(() -> sweep(SHAPE, Protocol.WHOLE, FaultSweep.STEPS + 1, SHARES));
    }

    @Test
    void shouldFindADuplicateThatIsAccepted() {
        assertFound(new Protocol(true, true, 0, false, false, true, true, true, true, true), "bit for bit");
    }

    @Test
    void shouldFindAnOldEpochThatIsAccepted() {
        assertFound(new Protocol(false, false, 0, false, false, true, true, true, true, true),
                "the epoch of what landed");
    }

    @Test
    void shouldFindALogThatIsCutOneShort() {
        assertFound(new Protocol(true, false, 1, false, false, true, true, true, true, true), "the run is stuck");
    }

    @Test
    void shouldFindAManifestWithAPartOfAnOlderAttempt() {
        assertDoesNotThrow(() -> runWithLateParts(Protocol.WHOLE));
        assertFound(() -> runWithLateParts(new Protocol(true, false, 0, true, false, true, true, true, true, true)),
                "the parts of the checkpoint after 2 steps");
    }

    @Test
    void shouldFindARunThatEndsBeforeItsLastCheckpointIsComplete() {
        assertFound(new Protocol(true, false, 0, false, true, true, true, true, true, true),
                "the run is over, and after 2 steps only");
    }

    @Test
    void shouldFindAMemberOfAnEarlierEpochInACollective() {
        assertFound(() -> sweep(ON_A_GRID, new Protocol(true, false, 0, false, false, false, true, true, true, true),
                FaultSweep.STEPS),
                "what the members of");
    }

    /** A node that is cut off ends last, and its coordinator is slow to write: by then another leads the run. */
    @Test
    void shouldFindASecondCoordinatorThatStillHasTheRunsDirectory() {
        assertDoesNotThrow(() -> partedWalks(Protocol.WHOLE));
        assertThrows(AssertionError.class,
                () -> partedWalks(new Protocol(true, false, 0, false, false, true, false, true, true, true)));
    }

    /** The order of a new epoch is in flight when its coordinator is lost, and the next one chooses the same number. */
    @Test
    void shouldFindALateOrderThatHasTheEpochOfTheSuccessor() {
        assertDoesNotThrow(() -> walksThatLoseTheCoordinator(Protocol.WHOLE));
        assertFound(() -> walksThatLoseTheCoordinator(
                new Protocol(true, false, 0, false, false, true, true, false, true, true)), "the run is stuck");
    }

    /** A node enters epochs of a lost coordinator, and reports when its successor has begun some of the same numbers. */
    @Test
    void shouldFindANodeThatReportsWhenItsEpochHasBegunAnew() {
        assertDoesNotThrow(() -> walksWithALateNode(Protocol.WHOLE));
        assertFound(() -> walksWithALateNode(
                new Protocol(true, false, 0, false, false, true, true, true, false, false)),
                "is ready in this epoch already");
    }

    private static void assertFound(Protocol broken, String how) {
        assertFound(() -> sweep(SHAPE, broken, FaultSweep.STEPS), how);
    }

    private static void assertFound(Executable run, String how) {
        String found = assertThrows(AssertionError.class, run).getMessage();
        assertTrue(found.contains(how), found);
    }

    private static void sweep(RunShape shape, Protocol protocol, int steps) {
        sweep(shape, protocol, steps, 1);
    }

    private static void sweep(RunShape shape, Protocol protocol, int steps, int shares) {
        FaultSweep sweep = new FaultSweep(shape, OUT_OF_ORDER, World.Copies.SENT, 0, steps, protocol);
        sweep.points(shares, FaultSweepTest.DEALER).forEach(sweep::tries);
    }

    /** The coordinator's node is cut off at any point, and then its rank fails, in random orders. */
    private static void partedWalks(Protocol protocol) {
        LongStream.range(0, PARTED_WALKS).forEach(seed -> {
            Random random = new Random(seed);
            int start = random.nextInt(200);
            boolean[] happened = new boolean[2];
            newRun(2, 9, protocol).run(moves -> {
                int[] soon = IntStream.range(0, moves.size())
                        .filter(move -> !moves.get(move).name().contains("no majority")
                                && !(happened[0] && moves.get(move).name().endsWith("a checkpoint for node-0")))
                        .toArray();
                return soon.length == 0 ? 0 : soon[random.nextInt(soon.length)];
            }, run -> {
                if (!happened[0]) {
                    happened[0] = run.moveCount() >= start && run.cutOff(0);
                } else {
                    happened[1] |= !happened[1] && random.nextInt(10) == 0 && run.crash(0);
                }
            });
            assertTrue(happened[0], "the network never parted");
        });
    }

    /** A rank fails at any point, the coordinator is lost soon after that, and most often another one leads at once. */
    private static void walksThatLoseTheCoordinator(Protocol protocol) {
        LongStream.range(0, LEADERLESS_WALKS).forEach(seed -> {
            Random random = new Random(seed);
            int start = random.nextInt(200);
            boolean[] happened = new boolean[2];
            newRun(1, 9, protocol).run(moves -> {
                int[] next = IntStream.range(0, moves.size())
                        .filter(move -> LEADS_ON.matcher(moves.get(move).name()).find()).toArray();
                return happened[1] && next.length > 0 && random.nextInt(4) > 0
                        ? next[random.nextInt(next.length)]
                        : random.nextInt(moves.size());
            }, run -> {
                if (!happened[0]) {
                    happened[0] = run.moveCount() >= start && run.crash(random.nextInt(2));
                } else {
                    happened[1] |= !happened[1] && random.nextInt(4) == 0 && run.loseCoordinator();
                }
            });
            assertTrue(happened[0], "no rank failed");
        });
    }

    /** A rank fails, then the coordinator is lost, and one node neither notices that nor asks before another one leads. */
    private static void walksWithALateNode(Protocol protocol) {
        LongStream.range(0, LATE_WALKS).forEach(seed -> {
            Random random = new Random(seed);
            int start = random.nextInt(200);
            String late = World.name(random.nextInt(3));
            Pattern next = Pattern.compile(LEADS_ON + "|time passes|" + late + " hears the coordinator of term 1");
            Predicate<Move> isLater = move -> move.name().startsWith(late + " asks")
                    || move.name().startsWith(late + " hears that");
            boolean[] happened = new boolean[2];
            Simulation walk = newRun(1, 9, protocol);
            walk.run(moves -> {
                boolean waits = happened[1] && !walk.cluster().leader().isRunning();
                List<Move> able = moves.stream().filter(move -> !waits || !isLater.test(move)).toList();
                List<Move> soon = able.stream().filter(move -> waits && next.matcher(move.name()).find()).toList();
                List<Move> some = !soon.isEmpty() && random.nextInt(4) > 0 ? soon : able.isEmpty() ? moves : able;
                return moves.indexOf(some.get(random.nextInt(some.size())));
            }, run -> {
                if (!happened[0]) {
                    happened[0] = run.moveCount() >= start && run.crash(random.nextInt(2));
                } else {
                    happened[1] |= !happened[1] && random.nextInt(4) == 0 && run.loseCoordinator();
                }
            });
            assertTrue(happened[0], "no rank failed");
        });
    }

    private static Simulation newRun(int standbys, int mostRecoveries, Protocol protocol) {
        RunSettings settings = new RunSettings(SHAPE.rankCount(), 0, 3, _ -> 0.1, 1, LossScale.none(0), 0, 1, -1, true,
                SHAPE.plan().places(), mostRecoveries);
        World world = new World(SHAPE.pipeline(), standbys, standbys > 0 ? World.Copies.SENT : World.Copies.NONE);
        return new Simulation(SHAPE, settings, new Truth(SHAPE.plan(), settings), world, protocol);
    }

    /** Parts come last, and the run gives up the first checkpoint for which it waits: its parts come in the second. */
    private static void runWithLateParts(Protocol protocol) {
        boolean[] hasGivenUp = new boolean[1];
        newRun(0, 1, protocol)
                .run(moves -> IntStream.range(0, moves.size()).filter(move -> !moves.get(move).name().contains("part"))
                        .findFirst().orElse(0), run -> hasGivenUp[0] |= !hasGivenUp[0] && run.giveUpCheckpoint());
        assertTrue(hasGivenUp[0], "the run never waited for a checkpoint");
    }
}
