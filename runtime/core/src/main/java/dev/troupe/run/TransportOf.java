package dev.troupe.run;

import dev.troupe.config.spec.TransportSpec;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.TermLength;
import dev.troupe.transport.NodeMap;
import dev.troupe.transport.Transport;
import dev.troupe.transport.TransportSettings;
import dev.troupe.transport.link.LinkTransport;

/** The transport of a run with all its ranks in this JVM. */
public final class TransportOf {
    private TransportOf() {
    }

    /**
     * Starts a media driver and the node's transport.
     *
     * @throws dev.troupe.transport.TransportException if it cannot start: no room for its files, or a directory in use
     */
    public static Transport run(PreparedRun run) {
        TransportSpec spec = run.spec().transport();
        NodeMap nodes = NodeMap.single(run.plan().rankCount());
        return LinkTransport.start(nodes,
                new TransportSettings(spec.directory(), TermLength.of(run.planned(), nodes.nodeOfRank()),
                        spec.timeout()),
                run.faultyMessages());
    }
}
