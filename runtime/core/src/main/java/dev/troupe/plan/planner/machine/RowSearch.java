package dev.troupe.plan.planner.machine;

import dev.troupe.partition.LayerRange;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.planner.PlanChoice;
import dev.troupe.plan.planner.Planner;
import dev.troupe.plan.planner.PricedPlan;
import dev.troupe.plan.profile.LayoutByCosts;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.lowering.AddTransfers;
import dev.troupe.schedule.search.Borders;
import dev.troupe.schedule.search.Candidate;
import dev.troupe.schedule.search.MarkovChain;
import dev.troupe.schedule.search.PlanningProblem;
import dev.troupe.schedule.search.ScheduleSearch;
import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The search for rows of a grid, which start from the best plan of a planner and become a CSV file. Each is tried with the
 * activations of that plan and with more, and priced by the planner, so that it is certified and within the memory.
 *
 * @param rows the file of the found rows
 */
public record RowSearch(Planner planner, Rule rule, Path rows) {
    /** Activations of the fullest rank, as multiples of the start's. */
    private static final List<Double> BUDGETS = List.of(1.0, 1.5, 2.0, 3.0);
    private static final int CHANGES = 1000;
    private static final int PROPOSALS = 100_000;
    private static final long SEED = 1;

    /** The way in which rows are found. */
    public enum Rule {
        /** List scheduling of rows. */
        ROWS,
        /** One Markov chain over rows and borders. */
        WALK
    }

    /**
     * Returns the best plan that was found; empty if none is shorter than the start; the file is then as before.
     *
     * @param start a plan with one step after the other
     */
    public Optional<PricedPlan> from(PricedPlan start) {
        PlanChoice choice = start.choice();
        int ranks = choice.grid().pipeline();
        if (ranks == 1 || Schedules.overlapsSteps(choice.schedule())) {
            return Optional.empty();
        }
        int microbatches = choice.grid().microbatches();
        PlanningProblem free = planner.problem(start);
        Borders borders = new Borders(start.plan().partition().stages().stream().map(LayerRange::size).toList());
        Candidate known = new Candidate(Schedules.named(choice.schedule()).plan(ranks, choice.virtualStages(),
                microbatches), borders);
        long held = free.mostBytes(known);
        Optional<PricedPlan> best = Optional.empty();
        Optional<String> text = before();
        for (double budget : BUDGETS) {
            PlanningProblem problem = free.withMemory(Math.round(budget * held));
            Candidate found = switch (rule) {
                case ROWS -> new ScheduleSearch(problem, ranks, microbatches, CHANGES, SEED).run().candidate();
                case WALK -> new MarkovChain(problem, PROPOSALS, SEED).from(known).best()
                        .with(known.machines());
            };
            write(Optional.of(found.plan().toCsv()));
            Plan lowered = new AddTransfers().apply(found.plan());
            int credits = ScheduleSearch.leastCredits(lowered, problem.costs(found));
            Optional<PricedPlan> priced = planner.priced(new PlanChoice(choice.grid(), rows.toString(),
                    found.plan().virtualStages(), 1,
                    LayoutByCosts.partition(start.plan().model(), found.borders()).layout(), choice.zero(),
                    choice.sharesSequence(), choice.recompute(), choice.replaysAhead()), credits);
            if (priced.isPresent()
                    && priced.get().stepNanos() < best.map(PricedPlan::stepNanos).orElse(start.stepNanos())) {
                best = priced;
                text = Optional.of(found.plan().toCsv());
            }
        }
        write(text);
        return best;
    }

    /** Returns what the file had; it stays if no shorter rows are found. */
    private Optional<String> before() {
        try {
            return Files.exists(rows) ? Optional.of(Files.readString(rows)) : Optional.empty();
        } catch (IOException failure) {
            throw unwritable(failure);
        }
    }

    /** Writes the rows; none removes the file. */
    private void write(Optional<String> text) {
        try {
            if (text.isEmpty()) {
                Files.deleteIfExists(rows);
            } else {
                Files.createDirectories(rows.toAbsolutePath().getParent());
                Files.writeString(rows, text.get());
            }
        } catch (IOException failure) {
            throw unwritable(failure);
        }
    }

    private UsageException unwritable(IOException failure) {
        return new UsageException("the rows cannot be written to " + rows + " (" + FileReason.of(failure)
                + "): choose another --out", failure);
    }
}
