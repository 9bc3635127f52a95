package dev.troupe.cli;

import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.run.RequestException;
import dev.troupe.run.RunDirectory;
import dev.troupe.run.RunRequest;
import dev.troupe.checkpoint.Checkpoint;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The configuration of a cluster, as the commands that start nodes take it. */
final class ClusterFile {
    @Parameters(index = "0", paramLabel = "CONFIG", description = "A HOCON file with cluster.nodes.")
    private Path config;

    @Option(names = "-s", paramLabel = "key=value", description = "Sets one key, without troupe; the same on all nodes.")
    private List<String> settings = List.of();

    @Option(names = "--out", paramLabel = "DIR", description = {
            "Where the run writes: on storage that all nodes see in the same place. Default: runs/NAME, or runs/NAME-2 and so on where that is taken."})
    private Path out;

    @Option(names = "--resume", paramLabel = "DIR", description = {
            "Goes on from the newest checkpoint of a run's directory, or from that very checkpoint."})
    private Path resume;

    Path config() {
        return config;
    }

    List<String> settings() {
        return settings;
    }

    Optional<Path> resume() {
        return Optional.ofNullable(resume);
    }

    /** Reads the file, and refuses one without nodes or with hosts that cannot be found. */
    RunSpec read() {
        RunSpec spec = RunSpecReader.read(Optional.of(config), settings);
        ClusterSpec cluster = spec.cluster().orElseThrow(() -> new RequestException(config
                + " names no nodes: add cluster.nodes (cluster-config/local-2.conf is an example), or start it with train"));
        List<String> unknown = cluster.unknownHosts();
        if (!unknown.isEmpty()) {
            throw new RequestException(String.join("\n", unknown));
        }
        return spec;
    }

    /** The directory of the run. */
    Path directory(RunSpec spec) {
        if (out != null) {
            return out;
        }
        return resume != null
                ? Checkpoint.runDirectoryOf(resume)
                : RunDirectory.firstFree(Path.of("runs", spec.name()));
    }

    /** What a node asks for. */
    RunRequest request(RunSpec spec, NodeSpec node) {
        ClusterSpec cluster = spec.cluster().orElseThrow();
        List<Integer> ranksOfMachine = cluster.nodesOn(node.host()).stream().flatMap(there -> there.ranks().stream())
                .sorted().toList();
        return new RunRequest(spec.on(node.engine()), BuiltInCorpus.utf8(), directory(spec), resume(),
                OptionalLong.empty(), Optional.empty(),
                Optional.of(new RunRequest.Share(ranksOfMachine, node.equals(leader(cluster)))));
    }

    /** The node that forms the cluster, and so leads the run. */
    static NodeSpec leader(ClusterSpec cluster) {
        return cluster.nodes().stream().filter(node -> !node.standby()).findFirst().orElseThrow();
    }
}
