package dev.troupe.cli.options;

import dev.troupe.plan.UsageException;
import dev.troupe.plan.profile.LayoutByCosts;
import dev.troupe.plan.profile.Profile;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.drawing.TimeScale;
import dev.troupe.schedule.lowering.AddRecompute;
import dev.troupe.schedule.search.Borders;
import dev.troupe.schedule.search.Candidate;
import dev.troupe.schedule.search.PlanningProblem;
import dev.troupe.schedule.search.SimulatedPartition;
import dev.troupe.schedule.search.Unit;
import dev.troupe.schedule.simulator.Costs;
import dev.troupe.schedule.simulator.Hop;
import dev.troupe.schedule.simulator.StageCost;
import dev.troupe.tokenizer.file.BoundedFile;
import dev.troupe.tokenizer.file.FileReason;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import picocli.CommandLine.Option;

/** The times of actions and messages of a simulated plan, in a unit of the user's own. */
public final class CostOptions {
    /** Simulated times are whole, so a unit is a thousand of them. */
    private static final double UNIT = 1000;
    public static final TimeScale UNITS = new TimeScale("units", UNIT);

    private static final double MOST = 1e6;
    private static final int KINDS = 3;
    /** The bandwidth unit: a hop's bandwidth is in bytes per second, so one unit of bytes must take one unit of time. */
    private static final double UNITS_PER_SECOND = 1e9 / UNIT;

    @Option(names = "--costs", defaultValue = "1,1,1", paramLabel = "F,I,W", description = {
            "What a forward, a backward for the input and one for the weights take, in any unit, of all stages; or of each, parted by ':' as in 1,1,1:2,2,2; or the path of a CSV with a line F,I,W for each stage. Default: 1,1,1."})
    private String costs;

    @Option(names = "--profile", paramLabel = "FILE", description = {
            "A profile of ./troupe profile, in place of --costs: its layers are cut into the stages with the shortest step, and a unit is a microsecond."})
    private Path profile;

    @Option(names = "--recompute", paramLabel = "R", description = {
            "Time of a forward that is computed again for its backward, in the same unit: inside B or I, or as RECOMPUTE before it if the plan has such actions. Default: 0, and in a plan with RECOMPUTE as long as the forward."})
    private Double recompute;

    @Option(names = "--recompute-ahead", description = {
            "Puts RECOMPUTE in front of each backward that waits for the gradient of another rank."})
    private boolean recomputeAhead;

    @Option(names = "--hop", defaultValue = "0", paramLabel = "LATENCY[,BANDWIDTH]", description = {
            "What a message between two ranks takes on its way, in the same unit, and how many bytes an edge carries in one; default: 0, and without limit."})
    private String hop;

    @Option(names = "--message-bytes", paramLabel = "BYTES", description = {
            "Size of a message between two stages; needed if a bandwidth is given."})
    private Long messageBytes;

    public Plan replaying(Plan compute) {
        return recomputeAhead ? new AddRecompute().apply(compute) : compute;
    }

    /**
     * Returns the costs of the stages.
     *
     * @throws UsageException if the value of an option is not valid
     */
    public Costs of(Plan plan) {
        int stageCount = plan.stageCount();
        if (recompute != null && !(recompute >= 0 && recompute <= MOST)) {
            throw new UsageException("--recompute must be a number from 0 to a million, but found " + recompute);
        }
        if (profile != null) {
            return measured(plan);
        }
        List<List<Double>> stages = stages();
        if (stages.size() != 1 && stages.size() != stageCount) {
            throw new UsageException("--costs must be one F,I,W for all stages or one for each, but the plan has "
                    + stageCount + " stages and there are " + stages.size());
        }
        if (stages.size() == 1) {
            stages = Collections.nCopies(stageCount, stages.getFirst());
        }
        Hop way = way();
        long bytes = messageBytes == null ? 0 : messageBytes;
        Set<Integer> replaying = plan.stagesThatReplay();
        List<StageCost> costs = new ArrayList<>();
        for (List<Double> stage : stages) {
            double again = recompute != null
                    ? recompute
                    : recomputeAhead || !replaying.isEmpty() ? stage.getFirst() : 0;
            costs.add(new StageCost(nanos(stage.get(0)), nanos(stage.get(1)), nanos(stage.get(2)), bytes)
                    .replaying(nanos(again), replaying.contains(costs.size())));
        }
        return new Costs(costs, (_, _) -> way);
    }

    /** Returns whether the times are of a profile, in which layers have sizes in bytes. */
    boolean areMeasured() {
        return profile != null;
    }

    /**
     * Returns a search's problem on equal machines without a limit on memory: the layers of the profile, or chunks, which
     * keep one byte each.
     *
     * @param chunks the number of chunks unless {@code --costs} lists them
     * @throws UsageException if the value of an option is not valid, or there are fewer parts than ranks
     */
    PlanningProblem problem(int ranks, int chunks) {
        if (recompute != null || recomputeAhead) {
            throw new UsageException("--search has no forwards that are computed again: leave --recompute and"
                    + " --recompute-ahead out");
        }
        long bytes = messageBytes == null ? 0 : messageBytes;
        List<Unit> units = profile != null
                ? Profile.read(profile).units()
                : stages().stream().map(chunk -> new Unit("chunk", new StageCost(nanos(chunk.get(0)),
                        nanos(chunk.get(1)), nanos(chunk.get(2)), bytes), 0, 1)).toList();
        if (units.size() == 1) {
            units = Collections.nCopies(chunks, units.getFirst());
        }
        if (units.size() < ranks) {
            throw new UsageException("a search needs a part of the model for each rank, but there are " + units.size()
                    + " for " + ranks + " ranks: list more in --costs, or take a smaller --pipeline");
        }
        return LayoutByCosts.onEqualMachines(units, ranks, way());
    }

    private Costs measured(Plan plan) {
        List<Unit> units = Profile.read(profile).units();
        if (plan.stageCount() > units.size()) {
            throw new UsageException(profile + " has " + units.size() + " layers, which make at most as many stages,"
                    + " but the plan has " + plan.stageCount());
        }
        Hop way = way();
        PlanningProblem problem = LayoutByCosts.onEqualMachines(units, plan.rankCount(), way);
        Candidate best = new SimulatedPartition(problem)
                .refine(new Candidate(plan, Borders.uniform(units.size(), plan.stageCount())));
        Set<Integer> replaying = plan.stagesThatReplay();
        List<StageCost> costs = new ArrayList<>();
        for (StageCost stage : problem.costs(best).stages()) {
            long again = recompute != null
                    ? nanos(recompute)
                    : recomputeAhead || !replaying.isEmpty() ? stage.forwardNanos() : 0;
            costs.add(stage.replaying(again, replaying.contains(costs.size())));
        }
        return new Costs(costs, (_, _) -> way);
    }

    private static long nanos(double units) {
        return Math.round(units * UNIT);
    }

    private List<List<Double>> stages() {
        boolean isFile = costs.toLowerCase(Locale.ROOT).endsWith(".csv") || costs.contains("/");
        List<String> lines = isFile ? lines(Path.of(costs)) : Arrays.asList(costs.split(":", -1));
        List<List<Double>> stages = new ArrayList<>();
        for (String line : lines) {
            List<Double> numbers = numbers(line);
            if (numbers.size() != KINDS || numbers.stream().anyMatch(number -> !(number >= 0 && number <= MOST))) {
                throw new UsageException(
                        "--costs must be three numbers F,I,W, each from 0 to a million, for all stages"
                                + " or for each, but found \"" + line + '"' + (isFile ? " in " + costs : ""));
            }
            stages.add(numbers);
        }
        return stages;
    }

    private static List<String> lines(Path file) {
        try {
            return BoundedFile.text(file).lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
        } catch (IOException unreadable) {
            throw new UsageException("--costs names a file that cannot be read (" + FileReason.of(unreadable)
                    + "): name a CSV with a line F,I,W for each stage, or give the numbers", unreadable);
        }
    }

    private Hop way() {
        List<Double> numbers = numbers(hop);
        boolean isSound = (numbers.size() == 1 || numbers.size() == 2) && numbers.getFirst() >= 0
                && numbers.getFirst() <= MOST && numbers.getLast() >= 0
                && (numbers.size() == 1 || numbers.getLast() > 0);
        if (!isSound || messageBytes != null && messageBytes < 0) {
            throw new UsageException("--hop must be LATENCY or LATENCY,BANDWIDTH, the latency from 0 to a million and"
                    + " the bandwidth above 0, and --message-bytes 0 or more, but found \"" + hop + '"'
                    + (messageBytes == null ? "" : " and " + messageBytes));
        }
        if (numbers.size() == 2 != (messageBytes != null)) {
            throw new UsageException(
                    "a bandwidth and --message-bytes mean nothing without each other: give both, such"
                            + " as --hop 0.1,1e6 --message-bytes 65536, or neither");
        }
        return new Hop(nanos(numbers.getFirst()),
                numbers.size() == 2 ? numbers.getLast() * UNITS_PER_SECOND : Double.POSITIVE_INFINITY);
    }

    /** Returns NaN for a text that is no number, since no range holds NaN. */
    private static List<Double> numbers(String text) {
        return Arrays.stream(text.split(",", -1)).map(part -> {
            try {
                return Double.parseDouble(part.strip());
            } catch (NumberFormatException _) {
                return Double.NaN;
            }
        }).toList();
    }
}
