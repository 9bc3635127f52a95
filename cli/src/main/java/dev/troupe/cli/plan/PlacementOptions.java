package dev.troupe.cli.plan;

import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.planner.MachineFigures;
import dev.troupe.plan.planner.PricedPlan;
import dev.troupe.plan.planner.machine.MeasuredPlacement;
import dev.troupe.plan.planner.machine.MeasuredPlacement.Placed;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import picocli.CommandLine.Option;

/** The options of the order in which ranks fill machines, and of one that changes a link. */
final class PlacementOptions {
    /** Machines up to which a single link can be changed. */
    private static final int MOST_MACHINES = 64;

    private enum Order {
        rule, measured, list
    }

    @Option(names = "--placement", paramLabel = "ORDER", defaultValue = "measured", description = {
            "${COMPLETION-CANDIDATES}: machines in the order of CONFIG; in the order with the shortest step by their links and speeds; by the ranks that the nodes of CONFIG name. Default: measured, which is the rule if all are equal."})
    private Order placement;

    @Option(names = "--what-if", paramLabel = "A,B,SHARE", description = {
            "Also prints the steps if the link between two nodes (or machines, by number from 0) has a share of its bandwidth, such as a,b,0.5."})
    private String whatIf;

    /** A link with a share of its bandwidth. */
    private record Link(int one, int other, double share) {
    }

    /** Returns the best plan by the order that was asked for. */
    Placed place(MeasuredPlacement search, RunSpec spec, List<String> names) {
        if (whatIf != null) {
            link(names); // refused before the search
        }
        return switch (placement) {
            case rule -> search.in(IntStream.range(0, names.size()).boxed().toList());
            case list -> search.in(listed(spec, names.size()));
            case measured -> search.best();
        };
    }

    /** Returns the machines in the order of the first rank that a node of each has. */
    private static List<Integer> listed(RunSpec spec, int machines) {
        ClusterSpec cluster = spec.cluster().orElseThrow(() -> new UsageException(
                "--placement list takes the ranks of cluster.nodes, but the configuration has none: name a file that has"));
        List<NodeSpec> firsts = ClusterWays.machines(cluster);
        if (machines > firsts.size()) {
            throw new UsageException("--placement list takes the machines of cluster.nodes, which are " + firsts.size()
                    + ", but there are figures of " + machines + ": leave --nodes out, or give figures of as many");
        }
        return IntStream.range(0, machines).boxed().sorted(Comparator.comparingInt(machine -> cluster
                .nodesOn(firsts.get(machine).host()).stream().flatMap(node -> node.ranks().stream())
                .mapToInt(Integer::intValue).min().orElse(Integer.MAX_VALUE))).toList();
    }

    /** Returns the lines about the order of machines and the changed link; none if machines are alike. */
    List<String> text(MeasuredPlacement search, Placed placed, List<String> names) {
        List<String> lines = new ArrayList<>();
        if (placed.stepNanos() < placed.ruleNanos()) {
            lines.add(String.format(Locale.ROOT,
                    "Machines in the order %s; in the order of the configuration the best plan takes %.4g s, %.2f times as"
                            + " long.",
                    words(placed.order(), names), placed.ruleNanos() / 1e9,
                    (double) placed.ruleNanos() / placed.stepNanos()));
        }
        if (whatIf != null) {
            Link link = link(names);
            MachineFigures slower = search.figures().withShareOfLink(names.size(), link.one(), link.other(),
                    link.share());
            PricedPlan best = placed.answer().best().getFirst();
            long same = placed.planner().stepNanos(best, slower.inOrder(placed.order()));
            Placed other = new MeasuredPlacement(search.planners(), slower, names.size()).best();
            lines.add(String.format(Locale.ROOT,
                    "If the link between %s and %s has %.2f of its bandwidth, this plan takes %.4g s, %.2f times as long;"
                            + " the best plan then takes %.4g s: %s, machines in the order %s.",
                    names.get(link.one()), names.get(link.other()), link.share(), same / 1e9,
                    (double) same / placed.stepNanos(), other.stepNanos() / 1e9,
                    other.answer().best().getFirst().choice(), words(other.order(), names)));
        }
        return lines;
    }

    private static String words(List<Integer> order, List<String> names) {
        return order.stream().map(names::get).collect(Collectors.joining(", "));
    }

    private Link link(List<String> names) {
        String[] parts = whatIf.split(",", -1);
        try {
            Link link = new Link(names.indexOf(parts[0].strip()), names.indexOf(parts[1].strip()),
                    Double.parseDouble(parts[2]));
            if (parts.length == 3 && Math.min(link.one(), link.other()) >= 0 && link.one() != link.other()
                    && link.share() > 0 && link.share() <= 1 && names.size() <= MOST_MACHINES) {
                return link;
            }
        } catch (ArrayIndexOutOfBoundsException | NumberFormatException _) {
            // refused below
        }
        throw new UsageException("--what-if must be two of the machines " + words(IntStream.range(0, Math.min(8,
                names.size())).boxed().toList(), names)
                + (names.size() > 8 ? " ..." : "") + " (at most " + MOST_MACHINES
                + ") and a share above 0 and at most 1, such as " + names.getFirst() + ',' + names.getLast()
                + ",0.5, but found \"" + whatIf + '"');
    }

    /**
     * Returns the nodes that hold the ranks of a plan, in the order in which ranks are placed on them, and the standbys;
     * nodes for which no rank is left are excluded.
     */
    static List<String> nodes(ClusterSpec cluster, Placed placed) {
        List<NodeSpec> firsts = ClusterWays.machines(cluster);
        List<Integer> order = placed.order().size() == firsts.size()
                ? placed.order()
                : IntStream.range(0, firsts.size()).boxed().toList();
        List<String> names = new ArrayList<>();
        for (int machine : order) {
            cluster.nodesOn(firsts.get(machine).host()).stream().filter(node -> !node.standby())
                    .forEach(node -> names.add(node.name()));
        }
        PricedPlan best = placed.answer().best().getFirst();
        int groups = best.choice().grid().pipeline() * best.choice().grid().data();
        List<String> holding = new ArrayList<>(names.subList(0, Math.min(names.size(), groups)));
        cluster.nodes().stream().filter(NodeSpec::standby).forEach(node -> holding.add(node.name()));
        return Collections.unmodifiableList(holding);
    }
}
