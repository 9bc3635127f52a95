package dev.troupe.schedule.search;

import java.util.ArrayList;
import java.util.List;

/**
 * The partition that is best for the simulated step of a given plan, by local search: starts are the uniform and the
 * balanced partition, and a move takes one unit from a stage to another, with all borders between them. Of the moves of
 * a round the best is made, until none is better. So the result is never longer than either start, and fits if one of
 * them does; excess memory counts before time. The step, not the longest stage: hops, warm-up and the order of the rows
 * decide too.
 *
 * <p>Source: Huang et al., GPipe, 2019, section 2.2; the moves of borders are as in Barany and Grinberg, Block
 * partitions of sequences, 2015.
 */
public final class SimulatedPartition {
    private final PlanningProblem problem;
    private int simulationsLeft;

    /** @param simulations the most candidates that are simulated, 2 or more */
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
        Priced best = price(start);
        for (Candidate other : starts(start)) {
            Priced priced = price(other);
            best = priced.isBetterThan(best) ? priced : best;
        }
        for (Priced better = step(best); better.isBetterThan(best); better = step(best)) {
            best = better;
        }
        problem.refusal(best.candidate()).ifPresent(reason -> {
            throw new IllegalArgumentException(
                    "no partition of " + problem.units().size() + " units fits: at best " + reason);
        });
        return best.candidate();
    }

    private List<Candidate> starts(Candidate start) {
        List<Candidate> starts = new ArrayList<>();
        starts.add(start.with(Borders.uniform(problem.units().size(), start.plan().stageCount())));
        List<Machine> placed = start.machines().stream().map(problem.machines()::get).toList();
        BalancedPartition.of(new PlanningProblem(problem.units(), placed, problem.hops()), start.plan())
                .ifPresent(borders -> starts.add(start.with(borders)));
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
