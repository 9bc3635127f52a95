package dev.troupe.cli;

import dev.troupe.cli.options.CostOptions;
import dev.troupe.cli.options.OutOption;
import dev.troupe.cli.options.OverlapOptions;
import dev.troupe.cli.options.SearchOptions;
import dev.troupe.cli.report.PlanNotes;
import dev.troupe.cli.report.ScheduleFigures;
import dev.troupe.cli.report.Terminal;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.plan.UsageException;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.Schedule;
import dev.troupe.schedule.builder.Sizes;
import dev.troupe.schedule.certificate.Certificate;
import dev.troupe.schedule.certificate.PlanValidator;
import dev.troupe.schedule.certificate.Purpose;
import dev.troupe.schedule.drawing.ChromeTrace;
import dev.troupe.schedule.drawing.SvgDrawing;
import dev.troupe.schedule.drawing.TerminalDrawing;
import dev.troupe.schedule.drawing.TimelineCsv;
import dev.troupe.schedule.family.OverlappingRule;
import dev.troupe.schedule.family.PipeDream;
import dev.troupe.schedule.family.PlanFile;
import dev.troupe.schedule.family.Schedules;
import dev.troupe.schedule.lowering.AddTransfers;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Simulation;
import dev.troupe.schedule.simulator.Simulator;
import dev.troupe.schedule.timeline.Timeline;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe schedule}: builds a plan, certifies it, simulates it, draws it. */
@Command(name = "schedule", mixinStandardHelpOptions = true, description = {
        "Builds the plan of a schedule, certifies it, simulates it and draws it; runs nothing."})
final class ScheduleCommand implements Callable<Integer> {
    enum Format {
        grid, csv, times, svg, trace
    }

    private static final int CREDITS = 2;
    /** The width of a drawing that goes to no terminal. */
    private static final int FILE_COLUMNS = 120;
    /** The most forwards of a plan that a heap of a few gigabytes checks and draws in half a minute. */
    private static final int MOST_FORWARDS = 1_000_000;

    @Parameters(paramLabel = "NAME", arity = "0..1", description = {
            "A schedule, or the path of a CSV with a plan of your own (files of PyTorch are read as they are)."})
    private String name;

    @Option(names = "--pipeline", paramLabel = "P", description = "Ranks in the pipeline, or with --replicas its stages; a plan in a file has its own.")
    private Integer pipeline;

    @Option(names = "--virtual-stages", paramLabel = "V", description = {
            "Stages on each rank; default: what the schedule is for, or what the file has."})
    private Integer virtualStages;

    @Option(names = "--microbatches", paramLabel = "M", description = "Microbatches of a step; a plan in a file has its own.")
    private Integer microbatches;

    @Option(names = "--format", defaultValue = "grid", description = {
            "${COMPLETION-CANDIDATES}: a drawing with figures; the plan; when each action starts and ends, as CSV; a picture; a trace for Perfetto. Default: grid."})
    private Format format;

    @Mixin
    private CostOptions costs;

    @Mixin
    private OverlapOptions overlap;

    @Mixin
    private SearchOptions search;

    @Mixin
    private OutOption out;

    @Override
    public Integer call() {
        out.requireWritable();
        if (search.isAsked() == (name != null)) {
            throw new UsageException(name == null
                    ? "schedule needs the name of a schedule, the path of a plan, or --search"
                    : "--search is in place of a name, but found " + name + ": leave one of the two out");
        }
        if (search.isAsked()) {
            searchRows();
        } else {
            search.requireNone();
            Plan inside = plan();
            Plan plan = costs.replaying(inside);
            Costs simulated = costs.of(plan);
            show(plan, simulated, CREDITS, (plan == inside ? "" : replayed(inside))
                    + (Schedules.overlapsSteps(name) ? stepMore(plan, simulated) : ""));
        }
        return ExitCode.DONE;
    }

    /** Shows the plan that a search finds; if that goes to a file, the terminal gets its figures. */
    private void searchRows() {
        overlap.requireNone("--search");
        requireSizes();
        requireFewForwards(pipeline, orElse(virtualStages, 2), microbatches, "P x V x M");
        SearchOptions.FoundPlan found = search.run(costs, pipeline, virtualStages, microbatches);
        show(found.plan(), found.costs(), found.credits(), found.text());
        if (out.file().isPresent()) {
            System.out.print(found.text());
        }
    }

    private void show(Plan plan, Costs simulated, int credits, String more) {
        Certificate certificate = PlanValidator.certify(new AddTransfers().apply(plan), Purpose.TRAINING, credits);
        Simulation simulation = certificate.under(simulated);
        Timeline timeline = simulation.timeline(plan.name());
        Terminal terminal = out.file().isPresent() ? Terminal.NONE : Terminal.ofOutput();
        out.write(switch (format) {
            case grid -> {
                int columns = terminal.tableColumns().orElse(FILE_COLUMNS);
                yield TerminalDrawing.draw(timeline, CostOptions.UNITS, columns, terminal.colours()) + "\n\n"
                        + ScheduleFigures.of(certificate, simulation, CostOptions.UNITS, columns) + "\n" + more
                        + PlanNotes.of(plan, simulated);
            }
            case csv -> plan.toCsv();
            case times -> TimelineCsv.write(timeline, CostOptions.UNITS);
            case svg -> SvgDrawing.draw(List.of(timeline), CostOptions.UNITS);
            case trace -> ChromeTrace.write(List.of(timeline));
        });
    }

    private String replayed(Plan inside) {
        return "with the forwards computed again inside the backwards: "
                + CostOptions.UNITS.text(Simulator.run(new AddTransfers().apply(inside), costs.of(inside), CREDITS)
                        .makespanNanos())
                + "\n";
    }

    /** Returns the time that each step adds, from a plan of twice the steps. */
    private String stepMore(Plan plan, Costs simulated) {
        int steps = plan.stepCount();
        Plan longer = new AddTransfers().apply(costs
                .replaying(overlap.rule(name).plan(plan.stageCount(), plan.microbatchesPerStep(), 2 * steps)));
        long more = Simulator.run(longer, simulated, CREDITS).makespanNanos()
                - Simulator.run(new AddTransfers().apply(plan), simulated, CREDITS).makespanNanos();
        return "each of " + steps + " steps more: " + CostOptions.UNITS.text(more / steps) + "\n"; // rounded down
    }

    private Plan plan() {
        if (!Schedules.overlapsSteps(name)) {
            overlap.requireNone(name);
            return plan(Schedules.named(name));
        }
        OverlappingRule rule = overlap.rule(name);
        if (rule instanceof PipeDream && microbatches == null) {
            microbatches = 1; // the only number
        }
        if (pipeline == null && overlap.stages().isPresent()) {
            pipeline = overlap.stages().getAsInt();
        }
        requireSizes();
        Sizes.requireOneStageARank(name, orElse(virtualStages, 1));
        int steps = overlap.steps(rule, pipeline);
        requireFewForwards(pipeline, steps, microbatches, "P x T x M");
        return rule.plan(pipeline, microbatches, steps);
    }

    /**
     * Returns the plan of a schedule for the sizes of the options, or the plan of a file; the options must not contradict
     * its sizes.
     */
    private Plan plan(Schedule schedule) {
        if (schedule instanceof PlanFile file) {
            Plan own = file.plan();
            return sized(file, orElse(pipeline, own.rankCount()), orElse(virtualStages, own.virtualStages()),
                    orElse(microbatches, own.microbatchesPerStep()));
        }
        requireSizes();
        return sized(schedule, pipeline, orElse(virtualStages, schedule.usualVirtualStages()), microbatches);
    }

    private void requireSizes() {
        if (pipeline == null || microbatches == null) {
            throw new UsageException("a schedule by name needs --pipeline and --microbatches, but "
                    + (pipeline == null ? "--pipeline" : "--microbatches")
                    + " is missing: only a plan in a file has its own");
        }
    }

    private static int orElse(Integer asked, int otherwise) {
        return asked == null ? otherwise : asked;
    }

    private static Plan sized(Schedule schedule, int ranks, int stagesOnEach, int microbatchCount) {
        requireFewForwards(ranks, stagesOnEach, microbatchCount, "P x V x M");
        return schedule instanceof PlanFile file
                ? file.ofSizes(ranks, stagesOnEach, microbatchCount)
                : schedule.plan(ranks, stagesOnEach, microbatchCount);
    }

    private static void requireFewForwards(int ranks, int factor, int microbatchCount, String product) {
        double forwards = (double) ranks * factor * microbatchCount;
        if (forwards > MOST_FORWARDS) {
            throw new UsageException(String.format(Locale.ROOT,
                    "%s must be at most %,d to be checked and drawn here, but %d x %d x %d is %,.0f: take fewer",
                    product,
                    MOST_FORWARDS, ranks, factor, microbatchCount, forwards));
        }
    }
}
