package dev.troupe.cli.report;

import dev.troupe.schedule.Action;
import dev.troupe.schedule.Place;
import dev.troupe.schedule.Plan;
import dev.troupe.schedule.certificate.Certificate;
import dev.troupe.schedule.certificate.SteadyState;
import dev.troupe.schedule.certificate.WeightVersions;
import dev.troupe.schedule.drawing.TimeScale;
import dev.troupe.schedule.simulator.Simulation;
import java.util.ArrayList;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The figures under the drawing of a plan: time, critical path, idle time, memory, messages. */
public final class ScheduleFigures {
    /** The printed actions at each end of the critical path; those in between are counted. */
    private static final int PATH_ENDS = 12;
    /** The most ranks or edges with a number each; for more, only minimum and maximum are printed. */
    private static final int MOST_LISTED = 16;

    private ScheduleFigures() {
    }

    public static String of(Certificate certificate, Simulation simulation, TimeScale scale, int columns) {
        List<String> lines = new ArrayList<>();
        lines.add("makespan: " + scale.text(simulation.makespanNanos()));
        lines.add(criticalPath(certificate.plan(), simulation, scale));
        int ranks = certificate.plan().rankCount();
        lines.add("idle, by rank: " + byRank(ranks, rank -> scale.plain(simulation.idleNanos(rank)))
                + "; between its first action and its last: "
                + byRank(ranks, rank -> scale.plain(simulation.idleWithinSpanNanos(rank))));
        lines.add("activations held at most (microbatch x stage), by rank: "
                + byRank(ranks, rank -> "" + certificate.peakActivations().get(rank)));
        if (certificate.peakReplays().stream().anyMatch(peak -> peak > 0)) {
            lines.add("forwards computed again ahead of their gradients at most (microbatch x stage), by rank: "
                    + byRank(ranks, rank -> "" + certificate.peakReplays().get(rank)));
        }
        lines.add(messages(certificate));
        if (certificate.plan().overlapsSteps()) {
            lines.add(weights(certificate));
            lines.add(certificate.steadyState().map(steady -> words(steady, certificate.plan().stepsPerRound()))
                    .orElse("steady state: no block from one update to the next repeats in the "
                            + certificate.plan().stepCount() + " steps of the plan"));
        }
        return lines.stream().map(line -> Columns.wrapped(line, columns - 2, "").replace("\n", "\n  "))
                .collect(Collectors.joining("\n"));
    }

    private static String weights(Certificate certificate) {
        WeightVersions weights = certificate.weights();
        int stages = certificate.plan().stageCount();
        return "versions of the weights at most, by stage: "
                + byRank(stages, stage -> "" + weights.liveVersions().get(stage))
                + "; sums of gradients: " + byRank(stages, stage -> "" + weights.liveGradients().get(stage))
                + "; updates between the weights of a gradient and those that it updates: "
                + byRank(stages, stage -> "" + weights.staleness().get(stage));
    }

    private static String words(SteadyState steady, int steps) {
        return "steady state: the block from update " + steady.step() + " to update " + (steady.step() + steps)
                + " leads back to its own beginning, " + (steps == 1 ? "one step" : steps + " steps")
                + " on, so the plan is certified for any number of steps";
    }

    /** Returns the critical path of the step; its time outside actions is the time of messages in flight. */
    private static String criticalPath(Plan plan, Simulation simulation, TimeScale scale) {
        List<Place> path = simulation.criticalPath().stream()
                .filter(place -> !plan.at(place).kind().isMessage()).toList();
        long computing = path.stream().mapToLong(place -> simulation.endNanos(place.rank(), place.position())
                - simulation.startNanos(place.rank(), place.position())).sum();
        String words = path.size() <= 2 * PATH_ENDS
                ? words(plan, path)
                : words(plan, path.subList(0, PATH_ENDS)) + " ... " + (path.size() - 2 * PATH_ENDS) + " more ... "
                        + words(plan, path.subList(path.size() - PATH_ENDS, path.size()));
        long betweenActions = simulation.makespanNanos() - computing;
        return "critical path: " + path.size() + " actions, " + scale.text(computing)
                + (betweenActions == 0 ? "" : " and " + scale.text(betweenActions) + " of messages") + ": " + words;
    }

    private static String words(Plan plan, List<Place> path) {
        return path.stream().map(plan::at).map(Action::toString).collect(Collectors.joining(" "));
    }

    private static String byRank(int ranks, Function<Integer, String> figure) {
        List<String> figures = IntStream.range(0, ranks).boxed().map(figure).toList();
        if (ranks <= MOST_LISTED) {
            return figures.toString();
        }
        List<Double> numbers = figures.stream().map(Double::parseDouble).sorted().toList();
        return TimeScale.number(numbers.getFirst()) + " to " + TimeScale.number(numbers.getLast());
    }

    private static String messages(Certificate certificate) {
        Map<Boolean, IntSummaryStatistics> byDirection = certificate.messagesPerEdge().entrySet().stream()
                .collect(Collectors.partitioningBy(edge -> edge.getKey().isForward(),
                        Collectors.summarizingInt(Map.Entry::getValue)));
        OptionalInt inFlight = certificate.messagesInFlight().values().stream().mapToInt(Integer::intValue).max();
        if (inFlight.isEmpty()) {
            return "messages: none";
        }
        int steps = certificate.plan().stepCount();
        return "messages of " + (steps == 1 ? "a step" : steps + " steps") + ": "
                + words(byDirection.get(true), "activations") + ", "
                + words(byDirection.get(false), "gradients") + "; unconsumed at most on an edge: "
                + inFlight.getAsInt() + "; certified with " + certificate.creditsPerEdge()
                + " credits an edge";
    }

    private static String words(IntSummaryStatistics edges, String what) {
        return edges.getSum() + " " + what + " on " + edges.getCount() + (edges.getCount() == 1 ? " edge" : " edges")
                + (edges.getMin() == edges.getMax()
                        ? ""
                        : " (" + edges.getMin() + " to " + edges.getMax() + " on one)");
    }
}
