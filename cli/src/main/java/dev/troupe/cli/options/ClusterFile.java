package dev.troupe.cli.options;

import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.plan.prepare.NodeRequests;
import dev.troupe.plan.prepare.RunRequest;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
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
        return read(config, options.settings());
    }

    /** Reads a file with keys that win over it, and refuses one without nodes. */
    public static RunSpec read(Path config, List<String> settings) {
        RunSpec spec = RunSpecReader.read(Optional.of(config), settings);
        NodeRequests.requireNodes(spec, config);
        return spec;
    }

    public RunRequest request(RunSpec spec, NodeSpec node) {
        return request(spec, node, options.commonDirectory(spec));
    }

    /** As {@link #request(RunSpec, NodeSpec)}, for a run in a directory that the launcher has chosen. */
    public RunRequest request(RunSpec spec, NodeSpec node, Path directory) {
        return NodeRequests.of(spec, node, directory, options.resume());
    }

    /** Returns the request of a node that joins while the others compute. */
    public RunRequest rejoining(RunSpec spec, NodeSpec node) {
        return NodeRequests.rejoining(spec, node, options.commonDirectory(spec), options.resume());
    }
}
