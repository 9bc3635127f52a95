package dev.troupe.protocol.run;

import dev.troupe.protocol.LossScale;
import dev.troupe.protocol.RunSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.ToIntFunction;

/**
 * One run, and every point at which one thing can go wrong in it: each rank before each move, each message in flight before
 * each move. Until then all points have one run; if there is a seed, later moves have an order of their own.
 */
final class FaultSweep {
    /** Names a point of a sweep; set it to try that point alone. */
    static final String POINT_PROPERTY = "troupe.simulation.point";
    /** One step with its validation data and a checkpoint, another with overflowing gradients. */
    static final int STEPS = 2;

    /** The run does not reach its end even without the fault. */
    static final class CannotHappen extends RuntimeException {
        private static final long serialVersionUID = 1;

        CannotHappen() {
            super("it cannot happen here", null, false, false);
        }
    }

    private final RunShape shape;
    private final long seed;
    private final World world;
    private final Protocol protocol;
    private final RunSettings order;
    private final Truth truth;

    /**
     * @param seed of the order of moves; 0 for first come, first served
     * @param standbys nodes without ranks, in addition to one for each place
     * @param steps of the run, or passes if steps overlap; the checkpoints after all but the last are written during
     *     training
     */
    FaultSweep(RunShape shape, long seed, World.Copies copies, int standbys, int steps, Protocol protocol) {
        this.shape = shape;
        this.seed = seed;
        this.world = new World(shape.pipeline(), standbys, copies);
        this.protocol = protocol;
        int stepsPerPass = shape.stepsPerPass();
        this.order = new RunSettings(shape.rankCount(), 0, (long) steps * stepsPerPass, step -> 0.1 / (step + 1),
                shape.updateAlone() ? 0 : 1, shape.updateAlone() ? LossScale.none(0) : LossScale.dynamic(0),
                stepsPerPass, stepsPerPass, -1, true, shape.plan().places(), 3, stepsPerPass,
                shape.updateAlone());
        this.truth = new Truth(shape.plan(), order);
    }

    /**
     * Returns every point, or one in {@code stride} of them: a number deals them, and {@code stride} numbers in a row deal
     * all.
     */
    List<Fault> points(int stride, long dealer) {
        List<Fault> points = new ArrayList<>();
        newRun().run(choice(0), run -> {
            int at = run.moveCount();
            for (Fault.Kind kind : Fault.Kind.values()) {
                for (int victim = 0; victim < kind.victims(run); victim++) {
                    points.add(new Fault(at, kind, victim));
                }
            }
        });
        List<Fault> some = new ArrayList<>();
        int first = Math.floorMod(dealer + shape.name().hashCode(), stride); // not the same of every shape
        for (int point = first; point < points.size(); point += stride) {
            some.add(points.get(point));
        }
        return some;
    }

    /** Tries one point; false if its fault cannot happen there. */
    boolean tries(Fault fault) {
        boolean[] happened = new boolean[1];
        try {
            newRun().run(choice(fault.at()), run -> {
                if (run.moveCount() == fault.at() && !happened[0]) {
                    happened[0] = fault.happen(run);
                    if (!happened[0]) {
                        throw new CannotHappen();
                    }
                }
            });
        } catch (CannotHappen nothing) {
            return false;
        } catch (AssertionError failure) {
            throw new AssertionError(
                    "./mvnw -pl runtime/protocol -am -Dtest=FaultSweepTest#shouldTryThePointThatIsNamed"
                            + " -Dsurefire.failIfNoSpecifiedTests=false -D" + POINT_PROPERTY + "=" + nameOf(fault)
                            + " verify\n" + shape + ", " + fault + ": " + failure.getMessage(),
                    failure);
        }
        return happened[0];
    }

    private String nameOf(Fault fault) {
        return String.join(",", shape.name(), Long.toString(seed), world.copies().name(),
                Integer.toString(world.standbys()), Long.toString(order.stepCount() / order.stepsPerPass()),
                Integer.toString(fault.at()),
                fault.kind().name(),
                Integer.toString(fault.victim()));
    }

    /** Tries a point again, by the name in its failure. */
    static boolean tryNamed(String name) {
        List<String> words = List.of(name.split(","));
        int rest = words.size() - 7;
        Fault fault = new Fault(Integer.parseInt(words.get(rest + 4)), Fault.Kind.valueOf(words.get(rest + 5)),
                Integer.parseInt(words.get(rest + 6)));
        return new FaultSweep(RunShape.named(words.subList(0, rest)), Long.parseLong(words.get(rest)),
                World.Copies.valueOf(words.get(rest + 1)), Integer.parseInt(words.get(rest + 2)),
                Integer.parseInt(words.get(rest + 3)), Protocol.WHOLE)
                .tries(fault);
    }

    private Simulation newRun() {
        return new Simulation(shape, order, truth, world, protocol);
    }

    private ToIntFunction<List<Move>> choice(int firstOwnMove) {
        if (seed == 0) {
            return _ -> 0;
        }
        Random common = new Random(seed);
        Random own = new Random(seed + firstOwnMove);
        int[] made = new int[1];
        return moves -> (made[0]++ < firstOwnMove ? common : own).nextInt(moves.size());
    }
}
