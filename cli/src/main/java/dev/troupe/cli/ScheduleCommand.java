package dev.troupe.cli;

import dev.troupe.cli.options.CostOptions;
import dev.troupe.cli.options.OverlapOptions;
import dev.troupe.cli.report.IdleWeights;
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
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
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

    @Parameters(paramLabel = "NAME", description = {
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

    @Option(names = "--out", paramLabel = "FILE", description = "Where to write; default: the terminal.")
    private Path out;

    private final PrintStream output = System.out;

    @Override
    public Integer call() {
        requireWritable();
        Plan inside = plan();
        Plan plan = costs.replaying(inside);
        Costs simulated = costs.of(plan);
        Certificate certificate = PlanValidator.certify(new AddTransfers().apply(plan), Purpose.TRAINING, CREDITS);
        Simulation simulation = certificate.under(simulated);
        Timeline timeline = simulation.timeline(plan.name());
        Terminal terminal = out == null ? Terminal.ofOutput() : Terminal.NONE;
        switch (format) {
            case grid -> {
                int columns = terminal.tableColumns().orElse(FILE_COLUMNS);
                write(TerminalDrawing.draw(timeline, CostOptions.UNITS, columns, terminal.colours()) + "\n\n"
                        + ScheduleFigures.of(certificate, simulation, CostOptions.UNITS, columns) + "\n"
                        + (plan == inside ? "" : replayed(inside))
                        + (Schedules.overlapsSteps(name) ? stepMore(plan, simulation, simulated) : "")
                        + IdleWeights.of(plan, simulated).map(note -> "Note: " + note + ".\n").orElse(""));
            }
            case csv -> write(plan.toCsv());
            case times -> write(TimelineCsv.write(timeline, CostOptions.UNITS));
            case svg -> write(SvgDrawing.draw(List.of(timeline), CostOptions.UNITS));
            case trace -> write(ChromeTrace.write(List.of(timeline)));
        }
        return ExitCode.DONE;
    }

    private String replayed(Plan inside) {
        return "with the forwards computed again inside the backwards: "
                + CostOptions.UNITS.text(Simulator.run(new AddTransfers().apply(inside), costs.of(inside), CREDITS)
                        .makespanNanos())
                + "\n";
    }

    /** Returns the time that each step adds, from a plan of twice the steps. */
    private String stepMore(Plan plan, Simulation simulation, Costs simulated) {
        int steps = plan.stepCount();
        Plan longer = new AddTransfers().apply(costs
                .replaying(overlap.rule(name).plan(plan.stageCount(), plan.microbatchesPerStep(), 2 * steps)));
        long more = Simulator.run(longer, simulated, CREDITS).makespanNanos() - simulation.makespanNanos();
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

    private void requireWritable() {
        if (out == null) {
            return;
        }
        Path folder = out.toAbsolutePath().getParent();
        if (Files.isDirectory(out) || folder == null || !Files.isDirectory(folder)) {
            throw new UsageException("--out must name a file in a directory that exists, but found " + out + ": "
                    + (Files.isDirectory(out) ? "name a file in it" : "make " + folder + ", or choose another"));
        }
    }

    private void write(String text) {
        if (out == null) {
            output.print(text);
            output.flush();
            return;
        }
        try {
            Files.writeString(out, text);
        } catch (IOException failure) {
            throw new UsageException("cannot write " + out + " (" + failure + "); choose another with --out",
                    failure);
        }
    }
}
