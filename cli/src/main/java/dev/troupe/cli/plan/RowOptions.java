package dev.troupe.cli.plan;

import dev.troupe.plan.UsageException;
import dev.troupe.plan.planner.PlanAnswer;
import dev.troupe.plan.planner.PricedPlan;
import dev.troupe.plan.planner.machine.MeasuredPlacement.Placed;
import dev.troupe.plan.planner.machine.RowSearch;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The option of a search for rows after that for a grid. */
final class RowOptions {
    private enum Search {
        bound, rows, walk
    }

    @Option(names = "--search", paramLabel = "RULE", defaultValue = "bound", description = {
            "${COMPLETION-CANDIDATES}: branch and bound over schedules by name; after it list scheduling of rows, or one Markov chain over rows and borders, from the best plan. Rows go to a CSV file next to --out. Default: bound."})
    private Search search;

    /** Refuses rows without a file of their own. */
    void require(Path out) {
        if (search != Search.bound && out == null) {
            throw new UsageException("--search " + search + " finds rows, which a run reads from a file: give --out,"
                    + " and they are written next to it");
        }
        if (search != Search.bound && out.toString().endsWith(".csv")) {
            throw new UsageException("--search " + search + " writes its rows to the CSV file of the name of --out,"
                    + " which is " + out + " itself: give it another ending, such as .conf");
        }
    }

    /** Returns the plans with the found one first, if it is shorter. */
    Placed improve(Placed placed, Path out) {
        if (search == Search.bound) {
            return placed;
        }
        String name = out.getFileName().toString();
        int end = name.lastIndexOf('.');
        Path rows = out.toAbsolutePath().resolveSibling((end > 0 ? name.substring(0, end) : name) + ".csv");
        PlanAnswer answer = placed.answer();
        Optional<PricedPlan> found = new RowSearch(placed.planner(),
                search == Search.rows ? RowSearch.Rule.ROWS : RowSearch.Rule.WALK, rows).from(answer.best().getFirst());
        if (found.isEmpty()) {
            return placed;
        }
        List<PricedPlan> best = new ArrayList<>(answer.best());
        best.addFirst(found.get());
        return new Placed(placed.planner(), new PlanAnswer(best, answer.intervals(), answer.withoutPipeline(),
                answer.refused(), answer.cost()), placed.order(),
                // the order brought nothing: the rows alone are no reason to name it
                placed.stepNanos() < placed.ruleNanos() ? placed.ruleNanos() : found.get().stepNanos());
    }
}
