package dev.troupe.cli;

import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.run.PreparedRun;
import dev.troupe.run.RequestException;
import dev.troupe.run.RunDirectory;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code troupe launch}: every node of a cluster file that lives on this machine, each in a JVM of its own. */
@Command(name = "launch", mixinStandardHelpOptions = true, description = {
        "Starts every node of a cluster file that is on this machine, each its own JVM with its own log, and ends with them."})
final class LaunchCommand implements Callable<Integer> {
    private static final String COMPLAINT = "troupe: ";
    private static final long DRIVER_START_SECONDS = 60;
    private static final long DRIVER_END_SECONDS = 15;
    /** Nodes hear of a failure from the coordinator, or notice that it is gone; whoever has not by then is ended. */
    private static final long LAST_NODES_SECONDS = 60;
    private static final long LOOK_MILLIS = 200;

    @Mixin
    private ClusterFile file;

    private final PrintStream output = System.out;
    private final List<ChildProcess> drivers = new ArrayList<>();
    private final List<ChildProcess> nodes = new ArrayList<>();

    @Override
    public Integer call() throws InterruptedException {
        RunSpec spec = file.read();
        ClusterSpec cluster = spec.cluster().orElseThrow();
        List<NodeSpec> local = cluster.nodes().stream().filter(node -> isHere(node.host())).toList();
        if (local.isEmpty()) {
            throw new RequestException("none of the hosts in cluster.nodes is this machine: use launch on a machine"
                    + " that is, or name this one's address");
        }
        Path directory = file.directory(spec).toAbsolutePath();
        // Whatever is wrong with the request is said once and by this process, before any other starts.
        new PreparedRun(file.request(spec, ClusterFile.leader(cluster))).close();
        Path logs = makeLogs(directory);
        try (Interrupt interrupt = Interrupt.stops(() -> nodes.forEach(ChildProcess::interrupt), output)) {
            startDrivers(local, directory, logs);
            for (NodeSpec node : local) {
                nodes.add(startNode(node, directory, logs, node.equals(ClusterFile.leader(cluster))));
            }
            output.println(local.size() + " nodes start; their logs are in " + logs);
            awaitNodes();
            return interrupt.happened() ? ExitCode.INTERRUPTED : exitCode();
        } finally {
            for (ChildProcess node : nodes) {
                node.end(DRIVER_END_SECONDS, TimeUnit.SECONDS);
            }
            for (ChildProcess driver : drivers) {
                driver.end(DRIVER_END_SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    private static boolean isHere(String host) {
        try {
            InetAddress address = InetAddress.getByName(host);
            return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
        } catch (UnknownHostException | SocketException unknown) {
            throw new RequestException("cannot tell whether " + host + " is this machine (" + unknown + ")", unknown);
        }
    }

    private static Path makeLogs(Path directory) {
        try {
            return Files.createDirectories(directory.resolve(RunDirectory.LOGS));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** One a host: nodes of one machine may have several addresses, as if they were several machines. */
    private void startDrivers(List<NodeSpec> local, Path directory, Path logs) throws InterruptedException {
        Set<String> hosts = new LinkedHashSet<>();
        local.forEach(node -> hosts.add(node.host()));
        for (String host : hosts) {
            CountDownLatch ready = new CountDownLatch(1);
            String name = "media-driver-" + host;
            ChildProcess driver = ChildProcess.start(name, arguments("media-driver", host, directory),
                    logs.resolve(name + ".log"), line -> {
                        if (line.equals(MediaDriverCommand.READY)) {
                            ready.countDown();
                        }
                    }, complaints());
            drivers.add(driver);
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DRIVER_START_SECONDS);
            while (!ready.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
                if (!driver.isAlive() || System.nanoTime() - deadline > 0) {
                    throw new RequestException("the media driver of " + host + (driver.isAlive()
                            ? " did not start within " + DRIVER_START_SECONDS + " seconds"
                            : " did not start") + "; see " + logs.resolve(name + ".log"));
                }
            }
        }
    }

    private ChildProcess startNode(NodeSpec node, Path directory, Path logs, boolean leads) {
        return ChildProcess.start(node.name(), arguments("node", node.name(), directory),
                logs.resolve(node.name() + ".log"), leads ? output::println : _ -> {
                }, complaints());
    }

    /** What a user must see; the rest is in the logs. */
    private static Consumer<String> complaints() {
        return line -> {
            if (line.startsWith(COMPLAINT)) {
                System.err.println(line);
            }
        };
    }

    private List<String> arguments(String command, String name, Path directory) {
        List<String> arguments = new ArrayList<>(List.of(command, file.config().toString(), name, "--out",
                directory.toString()));
        file.settings().forEach(setting -> arguments.addAll(List.of("-s", setting)));
        file.resume().ifPresent(resumed -> arguments.addAll(List.of("--resume", resumed.toString())));
        return arguments;
    }

    /** Until all have ended, or one has failed and the others do not follow. */
    private void awaitNodes() throws InterruptedException {
        long firstEnd = 0;
        while (nodes.stream().anyMatch(ChildProcess::isAlive)) {
            for (ChildProcess node : nodes) {
                node.awaitEnd(LOOK_MILLIS, TimeUnit.MILLISECONDS);
            }
            if (firstEnd == 0 && nodes.stream().anyMatch(LaunchCommand::hasFailed)) {
                firstEnd = System.nanoTime();
            }
            if (firstEnd != 0 && System.nanoTime() - firstEnd > TimeUnit.SECONDS.toNanos(LAST_NODES_SECONDS)) {
                System.err.println(
                        COMPLAINT + nodes.stream().filter(ChildProcess::isAlive).map(ChildProcess::name).toList()
                                + " did not end within " + LAST_NODES_SECONDS + " seconds after another had failed");
                return;
            }
        }
    }

    private static boolean hasFailed(ChildProcess node) {
        return !node.isAlive() && node.exitCode() != ExitCode.DONE;
    }

    private int exitCode() {
        for (ChildProcess node : nodes) {
            if (hasFailed(node)) {
                return node.exitCode() == ExitCode.WRONG_REQUEST ? ExitCode.WRONG_REQUEST : ExitCode.RUN_FAILED;
            }
        }
        return nodes.stream().anyMatch(ChildProcess::isAlive) ? ExitCode.RUN_FAILED : ExitCode.DONE;
    }
}
