package dev.troupe.protocol.run;

import dev.troupe.protocol.Commit;
import dev.troupe.protocol.NodeReport;
import dev.troupe.protocol.RunSettings;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/** The reports of processes to one coordinator, and the check that a run can continue from them. */
final class SimulatedReports {
    private final RunSettings settings;
    // The first of each process: no other counts.
    private final Map<SimulatedNode, Optional<NodeReport>> told = new LinkedHashMap<>();

    SimulatedReports(RunSettings settings) {
        this.settings = settings;
    }

    /** Takes the report of a process that obeys the coordinator and asks it. */
    void hear(SimulatedNode node, Optional<NodeReport> report) {
        told.putIfAbsent(node, report);
    }

    /** Returns the processes that have asked. */
    Set<SimulatedNode> askers() {
        return told.keySet();
    }

    /**
     * Returns whether a run of these committed steps can continue, or begin again, from the reports of these processes: from
     * the newest commit that they know, since older states may be overwritten.
     */
    boolean areEnough(Collection<SimulatedNode> nodes, long committed) {
        Map<String, NodeReport> reports = of(nodes, node -> told.getOrDefault(node, Optional.empty()));
        long newest = reports.values().stream().flatMap(report -> report.commits().stream())
                .mapToLong(Commit::stepsDone)
                .max().orElse(settings.firstStep());
        return reports.isEmpty()
                ? committed == settings.firstStep()
                : leadOn(reports, Math.max(newest, committed - settings.stepsPerPass()));
    }

    /** Returns whether a run of these committed steps could continue from the present knowledge of these processes. */
    boolean wouldBeEnough(Collection<SimulatedNode> nodes, long committed) {
        Map<String, NodeReport> reports = of(nodes, SimulatedNode::report);
        return !reports.isEmpty() && leadOn(reports, committed - settings.stepsPerPass());
    }

    private static Map<String, NodeReport> of(Collection<SimulatedNode> nodes,
            Function<SimulatedNode, Optional<NodeReport>> reportOf) {
        Map<String, NodeReport> reports = new TreeMap<>();
        nodes.forEach(node -> reportOf.apply(node).ifPresent(report -> reports.put(node.name(), report)));
        return reports;
    }

    private boolean leadOn(Map<String, NodeReport> reports, long oldest) {
        Commit first = new Commit(settings.firstStep(), settings.lossScale());
        return CoordinatorFailover.of(reports, first, settings.stepsPerPass())
                .filter(found -> found.commit().stepsDone() >= oldest).isPresent();
    }
}
