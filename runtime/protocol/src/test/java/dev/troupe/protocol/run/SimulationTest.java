package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.RunSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Runs of machines in very many orders. The seed of a failure is in its message; set it to see the same run again. */
@Tag("simulation")
class SimulationTest {
    private static final String SEED_PROPERTY = "troupe.simulation.seed";
    private static final int WALKS_PER_SHAPE = 1;
    private static final int STEPS = 3;
    /** The distance of the moves at which a run is stopped; the seed chooses the first. */
    private static final int STOP_EVERY = 9;
    /** The distance of the events of which one overtakes the others; the seed chooses the first. */
    private static final int OVERTAKE_EVERY = 4;

    private final long seed = Long.getLong(SEED_PROPERTY, System.nanoTime());

    @Test
    void shouldKeepEveryPromiseInRandomOrders() {
        for (int credits = 1; credits <= 3; credits++) {
            List<RunShape> shapes = RunShape.upTo(4, 6, credits);
            assertTrue(shapes.size() > 100, "the table of shapes is not what it was: " + shapes.size());
            for (RunShape shape : shapes) {
                for (int walk = 0; walk < WALKS_PER_SHAPE; walk++) {
                    Random random = new Random(seed + walk);
                    guarded(shape, () -> walkToTheEnd(shape, random));
                }
            }
        }
    }

    /** Tensor groups, parallel pipelines, and both. */
    @Test
    void shouldKeepEveryPromiseOnGridsInRandomOrders() {
        for (Grid grid : List.of(new Grid(1, 2), new Grid(2, 1), new Grid(2, 2), new Grid(3, 1))) {
            for (RunShape shape : RunShape.upTo(2, 2, 1, grid)) {
                Random random = new Random(seed);
                guarded(shape, () -> walkToTheEnd(shape, random));
            }
        }
    }

    private static void walkToTheEnd(RunShape shape, Random random) {
        Simulation simulation = new Simulation(shape, settings(shape, 0, STEPS, 1, 2));
        simulation.run(moves -> random.nextInt(moves.size()));
        assertEquals(STEPS, simulation.committed());
        assertEquals(List.of(1L, 2L, 3L), simulation.validation());
        assertEquals(List.of(2L, 3L), simulation.checkpoints());
    }

    /**
     * A checkpoint after each step, all but the last during training: each waits for the one before, and all are complete.
     */
    @Test
    void shouldWriteEveryCheckpointDuringTrainingInRandomOrders() {
        for (RunShape shape : RunShape.upTo(3, 2, 1)) {
            Random random = new Random(seed);
            RunSettings settings = new RunSettings(shape.rankCount(), 0, STEPS, _ -> 0.1, 1, LossScale.none(0), 2, 1,
                    -1,
                    true, shape.plan().places(), 1);
            guarded(shape, () -> {
                Simulation simulation = new Simulation(shape, settings);
                simulation.run(moves -> random.nextInt(moves.size()));
                assertEquals(List.of(1L, 2L, 3L), simulation.checkpoints());
            });
        }
    }

    /** Nodes are late with all orders of the coordinator, and still no state that a checkpoint needs is overwritten. */
    @Test
    void shouldWriteACheckpointDuringTrainingAlsoIfNodesReceiveItLate() {
        for (RunShape shape : RunShape.upTo(3, 2, 1)) {
            Random random = new Random(seed);
            RunSettings settings = new RunSettings(shape.rankCount(), 0, 7, _ -> 0.1, 1, LossScale.none(0), 0, 4, -1,
                    true, shape.plan().places(), 1);
            guarded(shape, () -> {
                Simulation simulation = new Simulation(shape, settings);
                simulation.run(moves -> {
                    List<Integer> others = IntStream.range(0, moves.size())
                            .filter(move -> !moves.get(move).name().contains(" hears ")).boxed().toList();
                    return others.isEmpty()
                            ? random.nextInt(moves.size())
                            : others.get(random.nextInt(others.size()));
                });
                assertEquals(List.of(4L, 7L), simulation.checkpoints());
            });
        }
    }

    /** Takes moves first come, first served, but once lets another go first; at a share of all places. */
    @Test
    void shouldKeepEveryPromiseWhicheverEventOvertakesTheOthersOnce() {
        for (List<RunShape> shapes : List.of(RunShape.upTo(2, 3, 2), RunShape.upTo(3, 2, 1))) {
            InParallel.all(shapes.stream(), shape -> guarded(shape, () -> overtake(shape)));
        }
    }

    private void overtake(RunShape shape) {
        RunSettings settings = settings(shape, 0, 1, 1, 0);
        List<Integer> widths = new ArrayList<>();
        new Simulation(shape, settings).run(moves -> {
            widths.add(moves.size());
            return 0;
        });
        long event = seed;
        for (int place = 0; place < widths.size(); place++) {
            for (int other = 1; other < widths.get(place); other++) {
                if (Math.floorMod(event++, OVERTAKE_EVERY) > 0) {
                    continue;
                }
                int at = place;
                int chosen = other;
                Simulation simulation = new Simulation(shape, settings);
                simulation.run(_ -> simulation.moveCount() - 1 == at ? chosen : 0);
                assertEquals(1, simulation.committed());
            }
        }
    }

    /** One kind of event is always the last to come: the slowest network, the slowest stage, the slowest coordinator. */
    @Test
    void shouldKeepEveryPromiseIfOneRankOrRoadIsAlwaysLast() {
        for (RunShape shape : RunShape.upTo(4, 6, 2)) {
            guarded(shape, () -> {
                Simulation simulation = new Simulation(shape, settings(shape, 5, 7, 0, 1));
                simulation.run(moves -> moves.size() - 1);
                assertEquals(List.of(6L, 7L), simulation.checkpoints());
            });
        }
    }

    @Test
    void shouldStopAfterTheStepInProgressWheneverItIsAskedTo() {
        InParallel.all(RunShape.upTo(3, 2, 2).stream(), shape -> {
            Simulation whole = new Simulation(shape, settings(shape, 0, STEPS, 2, 2));
            whole.run(_ -> 0);
            for (int at = Math.floorMod(seed, STOP_EVERY); at < whole.moveCount(); at += STOP_EVERY) {
                int when = at;
                guarded(shape, () -> stopAt(shape, when));
            }
        });
    }

    private void stopAt(RunShape shape, int when) {
        Random random = new Random(seed + when);
        Simulation simulation = new Simulation(shape, settings(shape, 0, STEPS, 2, 2));
        long[] before = {-1};
        simulation.run(moves -> {
            if (before[0] < 0 && simulation.moveCount() > when) {
                before[0] = simulation.committed();
                simulation.stop();
            }
            return random.nextInt(moves.size());
        });
        long stepsDone = simulation.committed();
        assertEquals(stepsDone, simulation.checkpoints().getLast(), "a run that was stopped ends with a checkpoint");
        assertTrue(before[0] < 0 || stepsDone <= before[0] + 1, "one more step at most after the request");
    }

    private void guarded(RunShape shape, Runnable test) {
        try {
            test.run();
        } catch (AssertionError | RuntimeException failure) {
            throw new AssertionError(shape + ", -D" + SEED_PROPERTY + "=" + seed + ": " + failure.getMessage(),
                    failure);
        }
    }

    private static RunSettings settings(RunShape shape, long firstStep, long stepCount, long validateEvery,
            long checkpointEvery) {
        return new RunSettings(shape.rankCount(), firstStep, stepCount, step -> 0.1 / (step + 1), 1,
                LossScale.none(firstStep), validateEvery,
                checkpointEvery, -1, true, shape.plan().places(), 0);
    }
}
