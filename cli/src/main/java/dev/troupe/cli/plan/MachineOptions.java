package dev.troupe.cli.plan;

import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.planner.MachineFigures;
import dev.troupe.plan.planner.machine.MeasuredFigures;
import dev.troupe.plan.profile.Profile;
import dev.troupe.schedule.simulator.Hop;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import picocli.CommandLine.Option;

/** The options that give the figures of machines, and the figures. */
final class MachineOptions {
    @Option(names = "--memory", paramLabel = "BYTES", description = {
            "The most memory of a rank for tensors, such as 80GiB; default: the memory in --costs, or no limit."})
    private String memory;

    @Option(names = "--nodes", paramLabel = "N", description = {
            "Machines, which have equal shares of the ranks; default: the hosts of CONFIG's cluster, or as node-ranks of --costs gives."})
    private Integer nodes;

    @Option(names = "--costs", paramLabel = "FILE", description = {
            "Assumed figures of the machines: device-flops, node-ranks, memory, and latency and bandwidth inside and between; docs/plan.md. Default with engine.kind = emulated: its device-flops and the speeds of its nodes, and links that take no time."})
    private Path costs;

    @Option(names = "--profile", paramLabel = "FILE", split = ",", description = {
            "Measured times of the layers, by ./troupe profile with the same CONFIG, or a profile of each machine, in their order; then steps have intervals, and --costs is for links and memory alone."})
    private List<Path> profile;

    /** Returns the profiles, of each machine; none if none is named. */
    List<Profile> profiles() {
        return profile == null ? List.of() : profile.stream().map(Profile::read).toList();
    }

    /** Returns the file of a profile. */
    Path file(int index) {
        return profile.get(index);
    }

    /**
     * Returns the figures, with measured links and speeds.
     *
     * @param most the most ranks
     * @throws UsageException if figures are missing, or do not match each other
     */
    MachineFigures figures(RunSpec spec, int most, List<Profile> profiles) {
        MachineFigures figures = withLinks(spec, profiles, assumed(spec, most, !profiles.isEmpty()));
        if (costs == null && !profiles.isEmpty()) {
            figures = figures.withInside(new Hop(profiles.getFirst().overheads().hop(), Double.POSITIVE_INFINITY));
        }
        if (profiles.size() > 1) {
            figures = figures.withSpeeds(MeasuredFigures.speeds(profiles));
        }
        int machines = Math.ceilDiv(most, figures.nodeRanks());
        int known = profiles.size() > 1 ? profiles.size() : figures.speeds().size();
        if (known > 0 && known < machines || profiles.size() > 1 && spec.cluster().isPresent() && nodes == null
                && known != ClusterWays.machines(spec.cluster().get()).size()) {
            throw new UsageException("there are " + known + " speeds or profiles, one of each machine in their order,"
                    + " but " + most + " ranks are on " + machines + " machines: name one for each");
        }
        return figures;
    }

    private MachineFigures assumed(RunSpec spec, int most, boolean isMeasured) {
        MachineFigures figures;
        if (costs != null) {
            figures = MachineFigures.read(costs);
        } else if (spec.engine().kind().equals("emulated") && spec.engine().emulated().deviceFlops() > 0) {
            figures = ofEmulated(spec, most);
        } else if (isMeasured) {
            figures = MachineFigures.withFreeLinks(1, most); // the times of layers are measured
        } else {
            throw new UsageException(
                    "plan needs the costs of the model's layers: name a profile of ./troupe profile with"
                            + " --profile, or assumed figures with --costs, or set engine.kind = emulated and"
                            + " engine.emulated.device-flops");
        }
        OptionalLong machines = nodes != null
                ? OptionalLong.of(nodes)
                : spec.cluster().map(cluster -> OptionalLong.of(ClusterWays.machines(cluster).size()))
                        .orElseGet(OptionalLong::empty);
        if (machines.isEmpty()) {
            return figures;
        }
        if (machines.getAsLong() < 1 || nodes != null && machines.getAsLong() > most) {
            throw new UsageException("--nodes must be 1 to the " + most + " ranks, but found " + machines.getAsLong());
        }
        return figures.withNodeRanks(Math.ceilDiv(most, Math.toIntExact(machines.getAsLong())));
    }

    private MachineFigures ofEmulated(RunSpec spec, int most) {
        double flops = spec.engine().emulated().deviceFlops();
        List<Double> speeds = new ArrayList<>();
        if (nodes == null) {
            spec.cluster().ifPresent(cluster -> ClusterWays.machines(cluster)
                    .forEach(node -> speeds.add(node.engine().emulated().speed())));
        }
        if (speeds.isEmpty()) {
            return MachineFigures.withFreeLinks(flops * spec.engine().emulated().speed(), most);
        }
        double fastest = speeds.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
        return MachineFigures.withFreeLinks(flops * fastest, most).withSpeeds(speeds);
    }

    /** Measured links count unless others are assumed: --costs has them, or --nodes other machines. */
    private MachineFigures withLinks(RunSpec spec, List<Profile> profiles, MachineFigures figures) {
        if (costs != null || nodes != null || profiles.isEmpty() || profiles.getFirst().links().isEmpty()
                || spec.cluster().isEmpty()) {
            return figures;
        }
        return figures.withMeasured(ClusterWays.of(profiles.getFirst(), spec.cluster().get(), file(0)));
    }

    /** Returns the most bytes of a rank. */
    long budget(MachineFigures figures) {
        return memory == null
                ? figures.memoryBytes().orElse(Long.MAX_VALUE)
                : MachineFigures.bytes("--memory", memory);
    }

    /** Returns the names of the machines: of the first node of each, or numbers. */
    List<String> names(RunSpec spec, int machines) {
        List<NodeSpec> ofCluster = nodes != null
                ? List.of()
                : spec.cluster().map(ClusterWays::machines).orElse(List.of());
        List<String> names = new ArrayList<>();
        for (int machine = 0; machine < machines; machine++) {
            names.add(machine < ofCluster.size() ? ofCluster.get(machine).name() : "" + machine);
        }
        return names;
    }
}
