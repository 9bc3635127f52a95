package dev.troupe.cli;

import dev.troupe.cli.launch.ProcessSupervisor;
import dev.troupe.cli.options.ClusterFile;
import dev.troupe.cli.options.NextCommand;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.cli.stop.ParentWatch;
import dev.troupe.cli.stop.StopRequests;
import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.protocol.supervisor.RunRestarts;
import dev.troupe.run.cluster.tls.Certificates;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe launch}: every node of a cluster file that is on this machine, each in a JVM of its own. */
@Command(name = "launch", mixinStandardHelpOptions = true, description = {
        "Starts every node of a cluster file that is on this machine, each its own JVM with its own log, and ends with them."})
final class LaunchCommand implements Callable<Integer> {
    @Mixin
    private ClusterFile file;

    @Mixin
    private ParentWatch parent;

    @Option(names = "--restarts", paramLabel = "N", defaultValue = "3", description = {
            "How often in a row, with no new checkpoint between, all nodes start again from the newest checkpoint if the run cannot continue without a lost node; default ${DEFAULT-VALUE}."})
    private int restarts;

    @Option(names = "--respawns", paramLabel = "N", defaultValue = "10", description = {
            "How often in a row the process of a lost node starts again as a standby while the run continues without it; a minute at work begins a new row; default ${DEFAULT-VALUE}."})
    private int respawns;

    /** Longer than nodes and media drivers need to end, even if they must be killed. */
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private final PrintStream output = System.out;

    @Override
    public Integer call() throws InterruptedException {
        try (StopRequests requests = StopRequests.listen(output, StopRequests.NOTHING_BEGUN, PATIENCE)) {
            parent.begin(requests);
            return run(requests);
        }
    }

    private int run(StopRequests requests) throws InterruptedException {
        RunSpec spec = file.read();
        ClusterSpec cluster = spec.cluster().orElseThrow();
        requireKnownHosts(cluster);
        cluster.tls().ifPresent(Certificates::requireSound);
        List<NodeSpec> local = cluster.nodes().stream().filter(node -> isHere(node.host())).toList();
        if (local.isEmpty()) {
            throw new UsageException("none of the hosts in cluster.nodes is this machine: use launch on a machine"
                    + " that is, or name this one's address");
        }
        Path directory = file.options().directory(spec).toAbsolutePath();
        // Refuses a wrong request once, before any other process starts.
        PreparedRun.of(file.request(spec, cluster.leader(), directory)).close();
        requests.starting();
        Path logs = makeLogs(directory);
        int exitCode = run(spec, local, directory, logs, requests);
        if (exitCode == ExitCode.STOPPED) {
            output.println(NextCommand.launch(file).sentence(directory, Checkpoint.newestSteps(directory).isPresent()));
        }
        return exitCode;
    }

    /**
     * Runs to the end. If the run cannot survive the loss of a process, all processes restart from the newest checkpoint, if
     * any.
     */
    private int run(RunSpec spec, List<NodeSpec> local, Path directory, Path logs, StopRequests requests)
            throws InterruptedException {
        Optional<Path> resume = file.options().resume();
        RunRestarts runRestarts = new RunRestarts(spec.recovery().enabled(), restarts,
                Checkpoint.newestSteps(directory));
        while (true) {
            ProcessSupervisor started = new ProcessSupervisor(file, spec, local, directory, logs, resume, respawns,
                    runRestarts, output);
            requests.running(started);
            started.run();
            if (!started.launchesAgain()) {
                return started.exitCode();
            }
            if (Checkpoint.newestSteps(directory).isPresent()) {
                resume = Optional.of(directory);
            }
        }
    }

    /** Reports an unknown host at once; the nodes would wait for it. */
    private static void requireKnownHosts(ClusterSpec cluster) {
        List<String> unknown = cluster.unknownHosts();
        if (!unknown.isEmpty()) {
            throw new UsageException(String.join("\n", unknown));
        }
    }

    private static boolean isHere(String host) {
        try {
            InetAddress address = InetAddress.getByName(host);
            return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
        } catch (UnknownHostException | SocketException unknown) {
            throw new UsageException("cannot tell whether " + host + " is this machine (" + unknown + ")", unknown);
        }
    }

    private static Path makeLogs(Path directory) {
        try {
            RunDirectory.make(directory);
            return Files.createDirectories(directory.resolve(RunDirectory.LOGS));
        } catch (IOException failure) {
            throw RunDirectory.unwritable(directory, failure);
        }
    }
}
