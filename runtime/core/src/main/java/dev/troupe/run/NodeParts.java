package dev.troupe.run;

import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.rank.NodeContext;
import dev.troupe.rank.bits.GradientDump;
import dev.troupe.rank.fault.FaultInjector;
import dev.troupe.rank.fault.FaultyTransport;
import dev.troupe.rank.group.NodeGroups;
import dev.troupe.rank.offload.StateFiles;
import dev.troupe.rank.snapshot.CopyRoutes;
import dev.troupe.rank.snapshot.Snapshots;
import dev.troupe.rank.trace.Pauses;
import dev.troupe.transport.Transport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The shared objects of the ranks of a process, apart from their transport.
 *
 * @param groups joins ranks to their groups
 * @param snapshots the snapshots from which the ranks restart; empty if a failure ends the run
 * @param copies the ways of copies to other nodes
 */
public record NodeParts(NodeGroups groups, Optional<Snapshots> snapshots, CopyRoutes copies,
        Pauses pauses) implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(NodeParts.class);
    /** The wait for a rank of a group, in transport timeouts: the rank may still compute. */
    private static final int GROUP_PATIENCE = 10;

    /**
     * Opens the objects of a process.
     *
     * @param groups the groups, from the longest wait of a rank for the others
     * @param sharesSnapshots whether other processes of the machine can map the snapshots
     */
    public static NodeParts open(PreparedRun run, Function<Duration, NodeGroups> groups, boolean sharesSnapshots) {
        Optional<Snapshots> snapshots = run.planned().recovers()
                ? Optional.of(new Snapshots(sharesSnapshots))
                : Optional.empty();
        return new NodeParts(groups.apply(run.spec().transport().timeout().multipliedBy(GROUP_PATIENCE)), snapshots,
                new CopyRoutes(), new Pauses());
    }

    /** Returns the context of ranks in a run that writes to a directory. */
    public NodeContext context(PreparedRun run, Path directory, Transport transport, Optional<GradientDump> gradients,
            FaultInjector faults) {
        return new NodeContext(run.plan(), new NodeContext.Links(transport, groups),
                new NodeContext.Devices(run.engine()::open, run.engine()::clock,
                        rank -> new StateFiles(run.spec().training().memory().offload().directory(directory), rank,
                                LOG::warn)),
                new NodeContext.Start(run.start().weights(), run.start().resumed(), run.stepsDone()),
                new NodeContext.Data(run.batches(), run.validation()),
                new NodeContext.Recovery(snapshots, copies, run.warmsUp()), CoordinatorOf.checkpoints(run, directory),
                gradients, pauses.watched(), faults);
    }

    /**
     * Returns the transport with the faults of the run; empty if it has none.
     *
     * @param isLocal whether a rank is in this process
     */
    public static Optional<FaultyTransport> faulty(PreparedRun run, Transport transport, FaultInjector faults,
            IntPredicate isLocal) {
        return faults.isIdle()
                ? Optional.empty()
                : Optional.of(new FaultyTransport(transport, run.faultyMessages(), faults, run.plan()::senderOf,
                        run.plan().training().plan().microbatchesPerStep(), isLocal));
    }

    @Override
    public void close() {
        groups.close();
        snapshots.ifPresent(Snapshots::close);
        pauses.close();
    }
}
