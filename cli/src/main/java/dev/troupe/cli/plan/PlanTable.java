package dev.troupe.cli.plan;

import dev.troupe.cli.report.Columns;
import dev.troupe.cli.report.Terminal;
import dev.troupe.plan.memory.MemoryPlan;
import dev.troupe.plan.planner.PipelineLaw;
import dev.troupe.plan.planner.PlanAnswer;
import dev.troupe.plan.planner.PlanChoice;
import dev.troupe.plan.planner.PlanGrid;
import dev.troupe.plan.planner.PlanRequest;
import dev.troupe.plan.planner.PricedPlan;
import dev.troupe.plan.profile.StepInterval;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;

/** The answer of the planner for a person: a ranked table, the reasons of what was refused, and advice. */
final class PlanTable {
    private static final List<String> HEADINGS = List.of("", "P", "T", "D", "V", "b", "M", "schedule", "layout",
            "saves",
            "step s", "tokens/s", "fullest rank");

    private static final int LONGEST_LAYOUT = 24;

    private PlanTable() {
    }

    static String of(PlanRequest request, PlanAnswer answer, Terminal terminal) {
        List<List<String>> rows = new ArrayList<>();
        for (PricedPlan plan : answer.best()) {
            rows.add(row(rows.size() + 1, request, plan, Optional.ofNullable(answer.intervals().get(plan.choice()))));
        }
        StringBuilder text = new StringBuilder(Columns.of(HEADINGS, rows)).append("\n\n");
        advice(answer).forEach(line -> text.append(Columns.wrapped(line, terminal.lineColumns(), "")).append('\n'));
        text.append('\n').append(Columns.of(List.of("refused", "kind", "the nearest"), refused(answer))).append("\n");
        return text.append('\n').append(Columns.wrapped(cost(answer.cost()), terminal.lineColumns(), "")).append('\n')
                .toString();
    }

    private static List<String> row(int place, PlanRequest request, PricedPlan plan,
            Optional<StepInterval> interval) {
        PlanGrid grid = plan.choice().grid();
        double seconds = plan.stepNanos() / 1e9;
        return List.of("" + place, "" + grid.pipeline(), "" + grid.tensor(), "" + grid.data(),
                "" + plan.choice().virtualStages(), "" + grid.microbatchSize(), "" + grid.microbatches(),
                schedule(plan.choice()), layout(plan.choice()), saves(plan.choice()),
                String.format(Locale.ROOT, "%.4g", seconds) + interval.map(PlanTable::text).orElse(""),
                String.format(Locale.ROOT, "%,.0f", tokens(request, plan) / seconds),
                MemoryPlan.text(plan.fullest().total()) + " (" + plan.fullest().rank() + ")");
    }

    private static String text(StepInterval interval) {
        return String.format(Locale.ROOT, " (%.4g-%.4g)", interval.lowNanos() / 1e9, interval.highNanos() / 1e9);
    }

    /** Returns the schedule in a table: of a file its name. */
    private static String schedule(PlanChoice choice) {
        return Path.of(choice.schedule()).getFileName().toString();
    }

    /** Returns the layout in a table: a long string only as what it is. */
    private static String layout(PlanChoice choice) {
        return choice.layout().length() > LONGEST_LAYOUT ? "by costs" : choice.layout();
    }

    static double tokens(PlanRequest request, PricedPlan plan) {
        return (double) request.batchSize() * plan.plan().stageSettings().sequenceLength();
    }

    private static String saves(PlanChoice choice) {
        List<String> savings = new ArrayList<>();
        if (choice.zero() > 0) {
            savings.add("zero " + choice.zero());
        }
        if (choice.sharesSequence()) {
            savings.add("sequence");
        }
        switch (choice.recompute()) {
            case NONE -> {
            }
            case SELECTIVE -> savings.add("recompute selective");
            case FULL -> savings.add("recompute" + (choice.replaysAhead() ? " ahead" : ""));
        }
        return savings.isEmpty() ? "-" : String.join(", ", savings);
    }

    /** Returns when a pipeline pays, and when it does not. */
    static List<String> advice(PlanAnswer answer) {
        PricedPlan best = answer.best().getFirst();
        List<String> lines = new ArrayList<>();
        if (best.choice().grid().pipeline() == 1) {
            lines.add("Take no pipeline: one stage on each rank has the shortest step.");
            return lines;
        }
        lines.add(answer.withoutPipeline()
                .map(single -> String.format(Locale.ROOT,
                        "Without a pipeline the best plan takes %.4g s, %.2f times as long: %s.",
                        single.stepNanos() / 1e9,
                        (double) single.stepNanos() / best.stepNanos(), single.choice()))
                .orElse("Without a pipeline nothing fits."));
        PipelineLaw law = PipelineLaw.of(best.plan().training().plan(), best.costs());
        if (law.ratio() > 0) {
            lines.add(String.format(Locale.ROOT,
                    "A message takes %.2f forwards of a mean stage, so that the busiest link is in use for %.0f %% of the time; by the"
                            + " law of slow links a synchronous step reaches at most %.1f %% of the throughput of free links.%s",
                    law.ratio(), 100 * law.busyShare(), 100 * law.mostShare(), law.busyShare() > 1
                            ? " The links are full: take fewer stages, or none."
                            : ""));
        }
        return lines;
    }

    private static List<List<String>> refused(PlanAnswer answer) {
        List<List<String>> rows = new ArrayList<>();
        new TreeMap<>(answer.refused()).forEach((kind, refusal) -> rows.add(List.of(
                String.format(Locale.ROOT, "%,d", refusal.count()), kind.word(), refusal.reason())));
        return rows;
    }

    private static String cost(PlanAnswer.Cost cost) {
        return String.format(Locale.ROOT,
                "Searched %,d of %,d grids and %,d candidates in %.1f s: %,d certified, %,d simulated, %,d sized.",
                cost.grids(), cost.allGrids(), cost.candidates(), cost.seconds(), cost.certified(), cost.simulated(),
                cost.sized());
    }
}
