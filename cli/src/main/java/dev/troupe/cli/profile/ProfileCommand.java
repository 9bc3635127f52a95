package dev.troupe.cli.profile;

import dev.troupe.cli.options.ConfigOptions;
import dev.troupe.cli.options.OutputFile;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.look.compare.OverheadTrial;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.prepare.BuiltInCorpus;
import dev.troupe.plan.prepare.NodeRequests;
import dev.troupe.plan.prepare.OpenedRun;
import dev.troupe.plan.prepare.PlannedRun;
import dev.troupe.plan.profile.Profile;
import dev.troupe.rank.profile.Profiler;
import dev.troupe.run.cluster.links.LinkProfiler;
import dev.troupe.run.cluster.machine.HostNames;
import dev.troupe.schedule.family.Schedules;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe profile}: the times of the layers of a model on this machine. */
@Command(name = "profile", mixinStandardHelpOptions = true, description = {
        "Measures for some seconds what each half of a block, the embedding and the head take on this machine, and writes it to a file for parallel.layout = measured and for schedule --profile."})
public final class ProfileCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options;

    @Option(names = "--node", paramLabel = "NAME", description = {
            "Profiles as this node of the file's cluster, and then the links to the other nodes, on which the same command must run at the same time."})
    private String node;

    @Option(names = "--out", paramLabel = "FILE", description = {
            "Where to write; default: runs/profile-NAME.json, where parallel.layout = measured reads it, and with --node runs/profile-NAME-NODE.json. An earlier profile is replaced."})
    private Path out;

    private final PrintStream output = System.out;

    @Override
    public Integer call() throws InterruptedException {
        RunSpec spec = options.read();
        Path file = out != null ? out : node == null ? Profile.usualFile(spec) : Profile.usualFile(spec, node);
        if (Files.isDirectory(file)) {
            throw new UsageException("--out must be a file, but " + file + " is a directory");
        }
        int ranks = spec.parallel().worldSize();
        Profile profile = node == null
                ? withOverheads(spec, new Profiler(spec, BuiltInCorpus.utf8(), ranks, ranks).measure())
                : ofNode(spec, spec.cluster().orElseThrow(() -> new UsageException("--node " + node
                        + " is a node of cluster.nodes, but the configuration has none: name a file that has")));
        output.println(ProfileTable.of(profile));
        OutputFile.write("--out", file, profile.toJson());
        output.println("Written to " + file + ".");
        output.print(ProfileTable.step(profile, spec.parallel(), spec.microbatchCount()));
        return ExitCode.DONE;
    }

    /** A configuration of several ranks in one process runs for some steps, unless its engine computes nothing. */
    private static Profile withOverheads(RunSpec spec, Profile layers) throws InterruptedException {
        return spec.parallel().worldSize() == 1 || spec.cluster().isPresent()
                || spec.engine().kind().equals("emulated") || Schedules.overlapsSteps(spec.parallel().schedule())
                        ? layers
                        : layers.with(OverheadTrial.measure(spec, BuiltInCorpus.utf8(), layers));
    }

    /** The nodes of a machine measure at the same time, each with its own ranks. */
    private Profile ofNode(RunSpec spec, ClusterSpec cluster) throws InterruptedException {
        NodeSpec self = cluster.node(node);
        RunSpec here = spec.on(self.engine());
        int ranksOfMachine = cluster.nodesOn(self.host()).stream().mapToInt(each -> each.ranks().size()).sum();
        Profile layers = new Profiler(here, BuiltInCorpus.utf8(), Math.max(1, ranksOfMachine),
                Math.max(1, self.ranks().size())).measure();
        HostNames.await(cluster, output::println);
        try (OpenedRun run = OpenedRun
                .of(NodeRequests.of(spec, self, Path.of("runs", "profile"), Optional.empty()))) {
            return layers.with(LinkProfiler.measure(PlannedRun.of(run), self));
        }
    }
}
