package dev.troupe.cli.options;

import dev.troupe.checkpoint.Checkpoint;
import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.config.cluster.Buddies;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.plan.UsageException;
import dev.troupe.prepare.RunRequest;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** The configuration of a cluster for the commands that start nodes. */
public final class ClusterFile {
    @Parameters(index = "0", paramLabel = "CONFIG", description = "A HOCON file with cluster.nodes.")
    private Path config;

    @Mixin
    private RunOptions options;

    public Path config() {
        return config;
    }

    public RunOptions options() {
        return options;
    }

    /** Reads the file, and refuses one without nodes. */
    public RunSpec read() {
        RunSpec spec = RunSpecReader.read(Optional.of(config), options.settings());
        if (spec.cluster().isEmpty()) {
            throw new UsageException(config + " names no nodes: add cluster.nodes (cluster-config/local-2.conf is an"
                    + " example), or start it with train");
        }
        return spec;
    }

    /** Returns the request of a node. */
    public RunRequest request(RunSpec spec, NodeSpec node) {
        return request(spec, node, options.commonDirectory(spec));
    }

    /** As {@link #request(RunSpec, NodeSpec)}, for a run whose launcher has chosen the directory. */
    public RunRequest request(RunSpec spec, NodeSpec node, Path directory) {
        ClusterSpec cluster = spec.cluster().orElseThrow();
        List<Integer> ranksOfMachine = cluster.nodesOn(node.host()).stream().flatMap(there -> there.ranks().stream())
                .sorted().toList();
        return request(spec, node, directory, options.resume(), new RunRequest.Share(ranksOfMachine,
                Buddies.ranksCopiedTo(cluster, node.host()), node.equals(leader(cluster))));
    }

    /**
     * Returns the request of a node that joins while the others compute, on a machine where they already have their memory.
     */
    public RunRequest rejoining(RunSpec spec, NodeSpec node) {
        Path directory = options.commonDirectory(spec).toAbsolutePath().normalize();
        // The checkpoint from which the others resumed may be deleted by now.
        Optional<Path> resume = options.resume()
                .map(from -> Checkpoint.runDirectoryOf(from).equals(directory) ? directory : from);
        return request(spec, node, directory, resume, new RunRequest.Share(node.ranks(), List.of(), false));
    }

    private RunRequest request(RunSpec spec, NodeSpec node, Path directory, Optional<Path> resume,
            RunRequest.Share share) {
        return new RunRequest(spec.on(node.engine()), BuiltInCorpus.utf8(), directory, resume,
                OptionalLong.empty(), Optional.empty(), Optional.of(share));
    }

    /** Returns the node that forms the cluster, and has the first coordinator. */
    public static NodeSpec leader(ClusterSpec cluster) {
        return cluster.nodes().stream().filter(node -> !node.standby()).findFirst().orElseThrow();
    }
}
