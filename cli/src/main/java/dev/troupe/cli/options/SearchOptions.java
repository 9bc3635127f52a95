package dev.troupe.cli.options;

import dev.troupe.plan.UsageException;
import dev.troupe.plan.planner.MachineFigures;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.search.PlanningProblem;
import dev.troupe.schedule.search.ScheduleSearch;
import dev.troupe.schedule.search.ScheduleSearch.Found;
import dev.troupe.schedule.simulator.Costs;
import java.util.Locale;
import java.util.OptionalLong;
import picocli.CommandLine.Option;

/** The options of a search for the rows of a plan, and the search. */
public final class SearchOptions {
    /** The schedule by name with which memory is compared. */
    private static final String YARDSTICK = "zbv";
    private static final double MOST_SECONDS = 86_400;
    /** Changes of each shape from one seed; a longer search takes further seeds. */
    private static final int CHANGES = 3000;
    private static final int USUAL_CHUNKS = 2;

    @Option(names = "--search", description = {
            "In place of NAME: searches for the rows with the shortest step under the costs, hops and memory; --costs are then of each of the V chunks of a rank, V by default 2."})
    private boolean asked;

    @Option(names = "--memory", paramLabel = "BUDGET", description = {
            "With --search, the most activations of a rank: a multiple of what zbv needs, such as 1.5x, or a number of chunks, or with --profile bytes such as 2GiB. Default: 1.5x."})
    private String memory;

    @Option(names = "--seconds", paramLabel = "S", description = {
            "With --search, about how long to search; 0 for one seed, which always finds the same. Default: 10."})
    private Double seconds;

    public boolean isAsked() {
        return asked;
    }

    /** Refuses the options of a search if none is asked for. */
    public void requireNone() {
        if (memory != null || seconds != null) {
            throw new UsageException((memory != null ? "--memory" : "--seconds")
                    + " is of a search: add --search, or leave it out");
        }
    }

    /**
     * A plan that was found.
     *
     * @param credits the least with which the step is as long as without a limit
     * @param text its length, bound and memory for a person
     */
    public record FoundPlan(Plan plan, Costs costs, int credits, String text) {
    }

    /**
     * Searches.
     *
     * @param virtualStages chunks of a rank; null: the usual number
     * @throws UsageException if an option is wrong or nothing fits the memory
     */
    public FoundPlan run(CostOptions costs, int ranks, Integer virtualStages, int microbatches) {
        if (ranks < 1 || microbatches < 1 || virtualStages != null && virtualStages < 1) {
            throw new UsageException("a search needs 1 or more ranks, chunks of a rank and microbatches, but was"
                    + " asked for " + ranks + ", " + (virtualStages == null ? USUAL_CHUNKS : virtualStages) + " and "
                    + microbatches);
        }
        if (seconds != null && !(seconds >= 0 && seconds <= MOST_SECONDS)) {
            throw new UsageException("--seconds must be 0 to a day, but found " + seconds);
        }
        PlanningProblem free = costs.problem(ranks, ranks * (virtualStages == null ? USUAL_CHUNKS : virtualStages));
        OptionalLong yardstick = new ScheduleSearch(free, ranks, microbatches, 0, 0).peakBytes(YARDSTICK);
        long budget = budget(costs, yardstick);
        PlanningProblem problem = free.withMemory(budget);
        Found found = best(problem, ranks, microbatches);
        Costs prices = problem.costs(found.candidate());
        Plan plan = found.candidate().plan();
        long most = problem.mostBytes(found.candidate());
        int credits = found.leastCredits(prices);
        String unit = costs.areMeasured() ? " bytes" : " chunks";
        String text = String.format(Locale.ROOT,
                "search: %s; no plan of one or two stages a rank takes less than %s, so that this one is at most %.1f %%"
                        + " above the shortest%n",
                found.isByName()
                        ? "takes " + plan.name() + ", " + CostOptions.UNITS.text(found.stepNanos())
                        : CostOptions.UNITS.text(found.stepNanos()) + found.byName().map(named -> String.format(
                                Locale.ROOT, ", %.1f %% below the best by name that fits, %s with %s",
                                100 * (1 - (double) found.stepNanos() / problem.stepNanos(named)),
                                named.plan().name(), CostOptions.UNITS.text(problem.stepNanos(named))))
                                .orElse(", and no schedule by name fits"),
                CostOptions.UNITS.text(found.boundNanos()), 100 * found.distance())
                + "memory: " + most + unit + " on the fullest rank, of at most " + budget
                + (yardstick.isPresent() ? "; " + YARDSTICK + " needs " + yardstick.getAsLong() : "") + "\n"
                + "stages of " + found.candidate().borders().sizes()
                + (costs.areMeasured() ? " layers" : " chunks") + "; a run needs parallel.pipeline = " + ranks
                + ", parallel.virtual-stages = " + plan.virtualStages() + ", " + microbatches
                + " microbatches and transport.credits = " + credits + "\n";
        return new FoundPlan(plan, prices, credits, text);
    }

    private Found best(PlanningProblem problem, int ranks, int microbatches) {
        long end = System.nanoTime() + Math.round((seconds == null ? 10 : seconds) * 1e9);
        try {
            Found best = new ScheduleSearch(problem, ranks, microbatches, CHANGES, 0).run();
            for (long seed = 1; System.nanoTime() < end && best.distance() > (best.isByName()
                    ? ScheduleSearch.NEAR
                    : 0); seed++) {
                Found next = new ScheduleSearch(problem, ranks, microbatches, CHANGES, seed).run();
                best = next.stepNanos() < best.stepNanos() ? next : best;
            }
            return best;
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--memory: " + refused.getMessage(), refused);
        }
    }

    private long budget(CostOptions costs, OptionalLong yardstick) {
        String text = memory == null ? "1.5x" : memory.strip();
        if (text.endsWith("x")) {
            double multiple = number(text.substring(0, text.length() - 1));
            if (!(multiple > 0 && multiple < 1e6)) {
                throw wrong(text);
            }
            return Math.round(multiple * yardstick.orElseThrow(() -> new UsageException("--memory "
                    + text + " is a multiple of the memory of " + YARDSTICK
                    + ", which needs two chunks for each rank: give it as a number")));
        }
        if (costs.areMeasured()) {
            return MachineFigures.bytes("--memory", text);
        }
        double chunks = number(text);
        if (!(chunks >= 1 && chunks < 1e12 && chunks == Math.rint(chunks))) {
            throw wrong(text);
        }
        return (long) chunks;
    }

    private static UsageException wrong(String text) {
        return new UsageException("--memory must be a multiple of the memory of " + YARDSTICK
                + " such as 1.5x, or a number of chunks of 1 or more, but found \"" + text + '"');
    }

    private static double number(String text) {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException _) {
            return Double.NaN; // in no range
        }
    }
}
