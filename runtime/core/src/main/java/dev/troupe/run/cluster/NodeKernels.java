package dev.troupe.run.cluster;

import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.protocol.WarmUpReport;
import dev.troupe.run.NodeWarmUp;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The warm-up of a node's kernels, which begins with the first request. Thread rule: the node's actor. */
final class NodeKernels implements Supplier<WarmUpReport> {
    private static final Logger EVENTS = LoggerFactory.getLogger("dev.troupe.events");

    private final PreparedRun run;
    private final List<Integer> ranks;
    private NodeWarmUp warmUp;
    private boolean isReported;

    NodeKernels(PreparedRun run, List<Integer> ranks) {
        this.run = run;
        this.ranks = ranks;
    }

    @Override
    public WarmUpReport get() {
        if (warmUp == null) {
            warmUp = NodeWarmUp.start(run, ranks);
        }
        WarmUpReport report = warmUp.report();
        if (report.isOver() && !isReported) {
            isReported = true;
            EVENTS.info("kernels of ranks {} have run once: seconds={} longest-kernel-seconds={}{}", ranks,
                    rounded(report.seconds()), rounded(report.longestKernelNanos() / 1e9),
                    report.refusal().map(why -> " refused: " + why).orElse(""));
        }
        return report;
    }

    private static double rounded(double seconds) {
        return Math.round(1000 * seconds) / 1000.0;
    }
}
