package dev.troupe.run.actor;

import dev.troupe.protocol.WarmUpReport;
import dev.troupe.rank.NodeContext;
import dev.troupe.run.news.RunOutcome;
import dev.troupe.run.setup.Neighbours;
import dev.troupe.run.setup.RunPosition;
import dev.troupe.transport.Transport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The identity and the resources of a {@link NodeActor}.
 *
 * @param keys the properties that must be the same on all nodes of a run, by name: version, plan, configuration
 * @param patience maximum wait for ranks to host
 * @param stepsPerPass steps from one commit to the next
 * @param neighbours the other nodes of the run
 * @param warmUp progress of the warm-up of its kernels; the first call begins it
 * @param context the parts that its ranks share, for the directory of the run
 * @param transport of the node; closed before its ranks' threads end
 * @param release releases the resources that the ranks need until their threads have ended
 */
public record NodeSetup(String name, Map<String, String> keys, Duration patience, int stepsPerPass,
        Neighbours neighbours, Supplier<WarmUpReport> warmUp, Function<Path, NodeContext> context,
        Transport transport, Runnable release, Reports reports) {
    /**
     * The receivers of events of the node and its run.
     *
     * @param position receives the progress of the run
     * @param ended receives the end of the run
     * @param lost ends the process of a lost node, for the reason in a sentence; empty if the whole run is in this process
     */
    public record Reports(RunPosition position, Consumer<RunOutcome> ended, Optional<Consumer<String>> lost) {
    }

    public NodeSetup afterRelease(Runnable task) {
        return new NodeSetup(name, keys, patience, stepsPerPass, neighbours, warmUp, context, transport, () -> {
            release.run();
            task.run();
        }, reports);
    }
}
