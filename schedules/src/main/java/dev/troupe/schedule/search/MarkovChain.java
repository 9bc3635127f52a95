package dev.troupe.schedule.search;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.simulator.DeltaSimulation;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/**
 * A Markov chain over candidates. One walk mixes moves of rows, borders and placements: an action moves within its row, a
 * unit goes from one stage to another, two ranks swap their machines. A candidate that deadlocks or exceeds a machine's
 * memory is refused before it has a price. A longer step is accepted with probability exp(-(longer by) / temperature); the
 * temperature falls to 0 several times. The same seed gives the same walk.
 *
 * <p>Source: Jia et al., Beyond Data and Model Parallelism for Deep Neural Networks, 2019, section 6 (Markov chain Monte
 * Carlo); Kirkpatrick et al., Optimization by simulated annealing, 1983 (the temperature).
 */
public final class MarkovChain {
    /** The highest temperature, as a share of the first step. */
    private static final double HIGHEST_TEMPERATURE = 0.15;
    /** The power of the time left by which the temperature falls: most of a round is cool. */
    private static final double FALL = 4;
    /** The times that the temperature falls to 0 in a walk. */
    private static final int ROUNDS = 5;
    private static final int FARTHEST_MOVE = 6;

    private final PlanningProblem problem;
    private final Random drawn;
    private final int proposals;
    /** The borders and machines of the walk; the rows are in the simulation. */
    private Candidate current;
    private DeltaSimulation simulation;

    /** @param proposals the number of candidates that are proposed */
    public MarkovChain(PlanningProblem problem, int proposals, long seed) {
        this.problem = problem;
        this.proposals = proposals;
        this.drawn = new Random(seed);
    }

    /**
     * The result of a walk.
     *
     * @param best the candidate with the shortest step; its plan only computes, and is yet to be certified
     * @param stepNanos its simulated step
     * @param priced candidates that were simulated, of all that were proposed
     * @param accepted candidates to which the walk went
     */
    public record Walked(Candidate best, long stepNanos, int priced, int accepted) {
    }

    /**
     * Walks from a candidate.
     *
     * @throws IllegalArgumentException if it does not fit the machines; the message has the rank and the bytes
     */
    public Walked from(Candidate start) {
        problem.refusal(start).ifPresent(reason -> {
            throw new IllegalArgumentException("a walk begins with a candidate that fits, but " + reason);
        });
        current = start;
        simulation = new DeltaSimulation(start.plan(), problem.costs(start));
        long step = simulation.makespanNanos();
        Candidate best = start;
        long least = step;
        int priced = 0;
        int accepted = 0;
        double highest = HIGHEST_TEMPERATURE * step;
        double energy = energy();
        int round = Math.ceilDiv(proposals, ROUNDS);
        for (int proposal = 0; proposal < proposals; proposal++) {
            Optional<Runnable> back = propose();
            if (back.isEmpty()) {
                continue;
            }
            priced++;
            double next = energy();
            double temperature = highest * Math.pow((double) (round - proposal % round) / round, FALL);
            if (next > energy && drawn.nextDouble() >= Math.exp((energy - next) / temperature)) {
                back.get().run();
                continue;
            }
            accepted++;
            energy = next;
            step = simulation.makespanNanos();
            if (step < least) {
                least = step;
                best = candidate();
            }
        }
        return new Walked(best, least, priced, accepted);
    }

    /** Returns the step and the mean end of a row: among steps of equal length, rows that end earlier have more to give. */
    private double energy() {
        int ranks = current.plan().rankCount();
        long ends = 0;
        for (int rank = 0; rank < ranks; rank++) {
            ends += simulation.endNanos(rank);
        }
        return simulation.makespanNanos() + (double) ends / ranks;
    }

    private Candidate candidate() {
        return current.with(simulation.plan());
    }

    /** Makes a move; returns how to take it back, or nothing if it was refused and nothing has changed. */
    private Optional<Runnable> propose() {
        int stages = current.borders().sizes().size();
        return switch (drawn.nextInt(8)) {
            case 0 -> {
                int giver = drawn.nextInt(stages);
                int taker = drawn.nextInt(stages);
                yield giver != taker && current.borders().canGive(giver)
                        ? reprice(candidate().with(current.borders().moved(giver, taker)))
                        : Optional.empty();
            }
            case 1 -> {
                List<Integer> machines = new ArrayList<>(current.machines());
                Collections.swap(machines, drawn.nextInt(machines.size()), drawn.nextInt(machines.size()));
                yield reprice(candidate().with(machines));
            }
            default -> moveAction();
        };
    }

    private Optional<Runnable> reprice(Candidate next) {
        if (problem.excessBytes(next) > 0) {
            return Optional.empty();
        }
        Candidate before = current;
        become(next);
        return Optional.of(() -> become(before));
    }

    private void become(Candidate next) {
        current = next;
        simulation.costs(problem.costs(next));
    }

    private Optional<Runnable> moveAction() {
        int rank = drawn.nextInt(current.plan().rankCount());
        List<Action> row = simulation.row(rank);
        int from = drawn.nextInt(row.size());
        int to = Math.clamp(from + drawn.nextInt(-FARTHEST_MOVE, FARTHEST_MOVE + 1), 0, row.size() - 1);
        if (from == to || passesItsOwn(row, from, to) || !simulation.move(rank, from, to)) {
            return Optional.empty();
        }
        Runnable back = () -> simulation.move(rank, to, from);
        if (problem.excessBytes(rank, simulation.row(rank), current) > 0) {
            back.run();
            return Optional.empty();
        }
        return Optional.of(back);
    }

    /** Returns whether a move would change the order of a stage's actions for one microbatch, such as F before B. */
    private static boolean passesItsOwn(List<Action> row, int from, int to) {
        Action moved = row.get(from);
        return row.subList(Math.min(from, to), Math.max(from, to) + 1).stream()
                .anyMatch(other -> other != moved && other.stage() == moved.stage()
                        && other.microbatch() == moved.microbatch());
    }
}
