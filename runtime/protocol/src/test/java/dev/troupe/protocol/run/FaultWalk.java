package dev.troupe.protocol.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.RunSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A run with several faults, one after the other or all at once. A seed decides the shape, the nodes, the places that
 * restart together, the order of moves, and the faults with their times.
 */
final class FaultWalk {
    /** The seed of a walk; set it to see the same walk again. */
    static final String SEED_PROPERTY = "troupe.simulation.seed";
    private static final int MOST_FAULTS = 6;
    private static final int STEPS = 3;
    private static final List<RunShape> SHAPES = IntStream.rangeClosed(1, 2)
            .mapToObj(credits -> Stream.concat(RunShape.upTo(4, 6, credits).stream(),
                    RunShape.overlappingUpTo(4, 6, credits).stream()))
            .flatMap(shapes -> shapes).toList();
    private static final List<RunShape> SHAPES_ON_GRIDS = Stream.of(new Grid(1, 2), new Grid(2, 1), new Grid(2, 2))
            .flatMap(grid -> RunShape.upTo(2, 3, 1, grid).stream()).toList();
    private static final int ON_A_GRID_EVERY = 4;

    private static final List<World.Copies> COPIES = List.of(World.Copies.values());

    private final long seed;
    private final Random random;
    private final List<Fault> happened = new ArrayList<>();

    FaultWalk(long seed) {
        this.seed = seed;
        this.random = new Random(seed);
    }

    /** Goes to the end; returns the number of faults. */
    int walk() {
        List<RunShape> shapes = random.nextInt(ON_A_GRID_EVERY) == 0 ? SHAPES_ON_GRIDS : SHAPES;
        RunShape shape = shapes.get(random.nextInt(shapes.size()));
        World nodes = new World(
                random.nextBoolean() ? shape.rankCount() : 1 + random.nextInt(shape.rankCount()), random.nextInt(3),
                COPIES.get(random.nextInt(COPIES.size())));
        RunSettings order = order(shape);
        int faults = 1 + random.nextInt(MOST_FAULTS);
        // Some close together, during the recovery from the one before; some far apart.
        double often = random.nextBoolean() ? 0.1 : 0.005;
        try {
            Simulation simulation = new Simulation(shape, order, new Truth(shape.plan(), order), nodes,
                    Protocol.WHOLE);
            simulation.run(moves -> random.nextInt(moves.size()), run -> {
                if (happened.size() < faults && random.nextDouble() < often) {
                    Fault fault = Fault.random(run.moveCount(), run, random);
                    if (fault.happen(run)) {
                        happened.add(fault);
                    }
                }
            });
            assertEquals(order.stepCount(), simulation.committed());
        } catch (AssertionError | RuntimeException failure) {
            throw new AssertionError("./mvnw -pl runtime/protocol -am -Dtest=FaultWalkTest#shouldWalkTheSeedThatIsNamed"
                    + " -Dsurefire.failIfNoSpecifiedTests=false -D" + SEED_PROPERTY + "=" + seed + " verify\n" + shape
                    + " on " + nodes + ", " + happened + ": " + failure.getMessage(), failure);
        }
        return happened.size();
    }

    private RunSettings order(RunShape shape) {
        LossScale scale = random.nextBoolean() || shape.updateAlone() ? LossScale.none(0) : LossScale.dynamic(0);
        int stepsPerPass = shape.stepsPerPass();
        return new RunSettings(shape.rankCount(), 0, (long) STEPS * stepsPerPass, step -> 0.1 / (step + 1),
                shape.updateAlone() ? 0 : 1, scale,
                random.nextInt(3) * stepsPerPass, random.nextInt(3) * stepsPerPass, -1, random.nextBoolean(),
                places(shape), 2 * MOST_FAULTS, stepsPerPass, shape.updateAlone());
    }

    /** Returns the ranks of each place; of single ranks, sometimes several that restart together. */
    private List<List<Integer>> places(RunShape shape) {
        if (!shape.grid().equals(Grid.ONE)) {
            return shape.plan().places();
        }
        int rankCount = shape.rankCount();
        int together = 1 + random.nextInt(2);
        return IntStream.range(0, (rankCount + together - 1) / together)
                .mapToObj(
                        place -> IntStream.range(place * together, Math.min(rankCount, (place + 1) * together)).boxed()
                                .toList())
                .toList();
    }
}
