package dev.troupe.plan.prepare;

import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.Buddies;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.config.spec.EngineSpec;
import dev.troupe.engine.provider.EngineSettings;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.checkpoint.RunConfig;
import dev.troupe.plan.directory.RunDirectory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The requests of the nodes of a cluster. */
public final class NodeRequests {
    private NodeRequests() {
    }

    /** Refuses a configuration without nodes. */
    public static void requireNodes(RunSpec spec, Path config) {
        if (spec.cluster().isEmpty()) {
            throw new UsageException(config + " names no nodes: add cluster.nodes (cluster-config/local-2.conf is an"
                    + " example), or start it with train");
        }
    }

    /**
     * Returns the request of a node that begins or resumes a run with the others.
     *
     * @param directory the run's directory, the same for all nodes
     */
    public static RunRequest of(RunSpec spec, NodeSpec node, Path directory, Optional<Path> resume) {
        ClusterSpec cluster = spec.cluster().orElseThrow();
        List<Integer> ranksOfMachine = cluster.nodesOn(node.host()).stream().flatMap(there -> there.ranks().stream())
                .sorted().toList();
        return request(spec, node.engine(), directory, resume, new RunRequest.Share(ranksOfMachine,
                Buddies.ranksCopiedTo(cluster, node.host()), node.equals(cluster.leader())));
    }

    /**
     * Returns the request of a node that joins a run in progress, on a machine with memory reserved for it.
     *
     * @param directory the run's directory, the same for all nodes
     */
    public static RunRequest rejoining(RunSpec spec, NodeSpec node, Path directory, Optional<Path> resume) {
        Path absolute = directory.toAbsolutePath().normalize();
        // The checkpoint from which the others resumed may be deleted by now.
        Optional<Path> from = resume
                .map(there -> Checkpoint.runDirectoryOf(there).equals(absolute) ? absolute : there);
        return request(spec, withProductsOf(absolute, node.engine()), absolute, from,
                new RunRequest.Share(node.ranks(), List.of(), false));
    }

    /** Returns the engine with the product libraries of the run in progress, unless the configuration names others. */
    private static EngineSpec withProductsOf(Path directory, EngineSpec engine) {
        if (!engine.products().equals(EngineSpec.AUTO) || !Files.exists(directory.resolve(RunDirectory.CONFIG))) {
            return engine;
        }
        String products = RunConfig.in(directory).text("engine.products");
        return engine.withProducts(products.isEmpty() ? EngineSettings.OWN_PRODUCTS : products);
    }

    private static RunRequest request(RunSpec spec, EngineSpec engine, Path directory, Optional<Path> resume,
            RunRequest.Share share) {
        return new RunRequest(spec.on(engine), BuiltInCorpus.utf8(), directory, resume,
                OptionalLong.empty(), false, Optional.of(share));
    }
}
