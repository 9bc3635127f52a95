package dev.troupe.schedule.search;

import java.util.ArrayList;
import java.util.List;

/**
 * The partition that is best for the simulated step of a given plan. If there are few partitions, all are simulated. Else
 * by local search: starts are the given, the uniform and the balanced partition, and a move takes one unit from a stage to
 * another, with all borders between them. Of the moves of a round the best is made, until none is better. So the result is
 * never longer than any start, and fits if one of them does; excess memory counts before time. The step, not the longest
 * stage: hops, warm-up and the order of the rows decide too.
 *
 * <p>Source: Huang et al., GPipe, 2019, section 2.2; the moves of borders are as in Barany and Grinberg, Block
 * partitions of sequences, 2015.
 */
public final class SimulatedPartition {
    /** At P = 4 and M = 8 some tenths of a second, and all partitions of 18 layers into 4 stages. */
    private static final int SIMULATIONS = 2000;

    private final PlanningProblem problem;
    private int simulationsLeft;

    /** Creates a search of a length that a start of a run can wait for. */
    public SimulatedPartition(PlanningProblem problem) {
        this(problem, SIMULATIONS);
    }

    /** @param simulations the most candidates that are simulated, 3 or more */
    public SimulatedPartition(PlanningProblem problem, int simulations) {
        this.problem = problem;
        this.simulationsLeft = simulations;
    }

    private record Priced(Candidate candidate, long excessBytes, long stepNanos) {
        boolean isBetterThan(Priced other) {
            return excessBytes != other.excessBytes ? excessBytes < other.excessBytes : stepNanos < other.stepNanos;
        }
    }

    /**
     * Returns the best candidate that was found with the rows and the placement of this one.
     *
     * @throws IllegalArgumentException if no candidate that was seen fits the machines; the message has the rank and the
     *     bytes
     */
    public Candidate refine(Candidate start) {
        int units = problem.units().size();
        int stages = start.plan().stageCount();
        Priced best = Borders.count(units, stages) < simulationsLeft
                ? bestOf(start, Borders.all(units, stages))
                : moved(bestOf(start, starts(start)));
        problem.refusal(best.candidate()).ifPresent(reason -> {
            throw new IllegalArgumentException("no partition of " + units + " units fits: at best " + reason);
        });
        return best.candidate();
    }

    private Priced bestOf(Candidate start, List<Borders> others) {
        Priced best = price(start);
        for (Borders other : others) {
            Priced priced = price(start.with(other));
            best = priced.isBetterThan(best) ? priced : best;
        }
        return best;
    }

    private Priced moved(Priced from) {
        Priced best = from;
        for (Priced better = step(best); better.isBetterThan(best); better = step(best)) {
            best = better;
        }
        return best;
    }

    private List<Borders> starts(Candidate start) {
        List<Borders> starts = new ArrayList<>();
        starts.add(Borders.uniform(problem.units().size(), start.plan().stageCount()));
        List<Machine> placed = start.machines().stream().map(problem.machines()::get).toList();
        BalancedPartition
                .of(new PlanningProblem(problem.units(), placed, problem.hops(), problem.sharedBytes()), start.plan())
                .ifPresent(starts::add);
        return starts;
    }

    private Priced price(Candidate candidate) {
        simulationsLeft--;
        return new Priced(candidate, problem.excessBytes(candidate), problem.stepNanos(candidate));
    }

    private Priced step(Priced from) {
        Priced best = from;
        Borders borders = from.candidate().borders();
        int stages = borders.sizes().size();
        for (int giver = 0; giver < stages; giver++) {
            for (int taker = 0; taker < stages && borders.canGive(giver); taker++) {
                if (taker != giver && simulationsLeft > 0) {
                    Priced moved = price(from.candidate().with(borders.moved(giver, taker)));
                    best = moved.isBetterThan(best) ? moved : best;
                }
            }
        }
        return best;
    }
}
