package dev.troupe.cli;

import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.config.cluster.Buddies;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.run.RequestException;
import dev.troupe.run.RunRequest;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** The configuration of a cluster, as the commands that start nodes take it. */
final class ClusterFile {
    @Parameters(index = "0", paramLabel = "CONFIG", description = "A HOCON file with cluster.nodes.")
    private Path config;

    @Mixin
    private RunOptions options;

    Path config() {
        return config;
    }

    RunOptions options() {
        return options;
    }

    /** Reads the file, and refuses one without nodes. */
    RunSpec read() {
        RunSpec spec = RunSpecReader.read(Optional.of(config), options.settings());
        if (spec.cluster().isEmpty()) {
            throw new RequestException(config + " names no nodes: add cluster.nodes (cluster-config/local-2.conf is an"
                    + " example), or start it with train");
        }
        return spec;
    }

    /** What a node asks for. */
    RunRequest request(RunSpec spec, NodeSpec node) {
        ClusterSpec cluster = spec.cluster().orElseThrow();
        List<Integer> ranksOfMachine = cluster.nodesOn(node.host()).stream().flatMap(there -> there.ranks().stream())
                .sorted().toList();
        return new RunRequest(spec.on(node.engine()), BuiltInCorpus.utf8(), options.directory(spec), options.resume(),
                OptionalLong.empty(), Optional.empty(),
                Optional.of(new RunRequest.Share(ranksOfMachine, Buddies.ranksCopiedTo(cluster, node.host()),
                        node.equals(leader(cluster)))));
    }

    /** The node that forms the cluster, and so leads the run. */
    static NodeSpec leader(ClusterSpec cluster) {
        return cluster.nodes().stream().filter(node -> !node.standby()).findFirst().orElseThrow();
    }
}
