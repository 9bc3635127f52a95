package dev.troupe.cli;

import dev.troupe.cluster.Certificates;
import dev.troupe.cluster.MachineDriver;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
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
    /** Beyond it an exit code tells the signal that ended a process. */
    private static final int SIGNALS = 128;

    @Mixin
    private ClusterFile file;

    @Mixin
    private ParentWatch parent;

    private final PrintStream output = System.out;
    private final List<ChildProcess> drivers = new ArrayList<>();
    private final List<String> startedDrivers = new ArrayList<>();
    private final List<ChildProcess> nodes = new ArrayList<>();
    /** For each node whether it has said why it ends. */
    private final Map<String, AtomicBoolean> complainers = new HashMap<>();
    /** From when on nodes end because this process says so, which they need not explain. */
    private volatile boolean isEnding;
    /** Whether they were asked to stop after their step, for which no exit code stands. */
    private volatile boolean isStopped;

    @Override
    public Integer call() throws InterruptedException {
        parent.begin();
        RunSpec spec = file.read();
        ClusterSpec cluster = spec.cluster().orElseThrow();
        requireKnownHosts(cluster);
        cluster.tls().ifPresent(Certificates::requireSound);
        List<NodeSpec> local = cluster.nodes().stream().filter(node -> isHere(node.host())).toList();
        if (local.isEmpty()) {
            throw new RequestException("none of the hosts in cluster.nodes is this machine: use launch on a machine"
                    + " that is, or name this one's address");
        }
        Path directory = file.options().directory(spec).toAbsolutePath();
        // Whatever is wrong with the request is said once and by this process, before any other starts.
        new PreparedRun(file.request(spec, ClusterFile.leader(cluster))).close();
        Path logs = makeLogs(directory);
        try (Interrupt interrupt = Interrupt.stops(this::stop, output)) {
            run(spec, local, directory, logs);
            return interrupt.happened() ? ExitCode.INTERRUPTED : exitCode();
        }
    }

    private void stop() {
        isStopped = true;
        nodes.forEach(ChildProcess::interrupt);
    }

    /** Until the nodes have ended; then nothing of them is left. */
    private void run(RunSpec spec, List<NodeSpec> local, Path directory, Path logs) throws InterruptedException {
        List<String> hosts = local.stream().map(NodeSpec::host).distinct().toList();
        try {
            for (String host : hosts) {
                startDriver(host, directory, logs);
            }
            for (NodeSpec node : local) {
                nodes.add(startNode(node, directory, logs,
                        node.equals(ClusterFile.leader(spec.cluster().orElseThrow()))));
            }
            output.println(local.size() + " nodes start; their logs are in " + logs);
            awaitNodes(logs);
        } finally {
            isEnding = true;
            nodes.forEach(ChildProcess::interrupt);
            for (ChildProcess node : nodes) {
                node.end(DRIVER_END_SECONDS, TimeUnit.SECONDS);
            }
            for (ChildProcess driver : drivers) {
                driver.end(DRIVER_END_SECONDS, TimeUnit.SECONDS);
            }
            startedDrivers.forEach(host -> MachineDriver.clear(spec, host));
        }
    }

    /** The nodes would wait for names to become known; who launches them reads the answer at once. */
    private static void requireKnownHosts(ClusterSpec cluster) {
        List<String> unknown = cluster.unknownHosts();
        if (!unknown.isEmpty()) {
            throw new RequestException(String.join("\n", unknown));
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
    private void startDriver(String host, Path directory, Path logs) throws InterruptedException {
        CountDownLatch ready = new CountDownLatch(1);
        AtomicReference<String> complaint = new AtomicReference<>();
        String name = "media-driver-" + host;
        Path log = logs.resolve(name + ".log");
        ChildProcess driver = ChildProcess.start(name, arguments("media-driver", host, directory), log, line -> {
            if (line.equals(MediaDriverCommand.READY)) {
                ready.countDown();
            }
        }, line -> {
            if (line.startsWith(COMPLAINT)) {
                complaint.set(line.substring(COMPLAINT.length()));
            }
        });
        drivers.add(driver);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(DRIVER_START_SECONDS);
        while (!ready.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
            if (driver.awaitEnd(0, TimeUnit.MILLISECONDS)) {
                throw new RequestException(complaint.get() == null
                        ? "the media driver of " + host + " did not start; see " + log
                        : complaint.get());
            }
            if (System.nanoTime() - deadline > 0) {
                throw new RequestException("the media driver of " + host + " did not start within "
                        + DRIVER_START_SECONDS + " seconds; see " + log);
            }
        }
        startedDrivers.add(host);
    }

    private ChildProcess startNode(NodeSpec node, Path directory, Path logs, boolean leads) {
        AtomicBoolean complained = new AtomicBoolean();
        complainers.put(node.name(), complained);
        return ChildProcess.start(node.name(), arguments("node", node.name(), directory),
                logs.resolve(node.name() + ".log"), line -> {
                    if (leads && !line.equals(Interrupt.STOPPING)) {
                        output.println(line);
                    }
                }, complaints(complained));
    }

    /** What a user must see; the rest is in the logs. */
    private Consumer<String> complaints(AtomicBoolean complained) {
        return line -> {
            if (line.startsWith(COMPLAINT) && !isEnding) {
                complained.set(true);
                System.err.println(line);
            }
        };
    }

    private List<String> arguments(String command, String name, Path directory) {
        List<String> arguments = new ArrayList<>(List.of(command, file.config().toString(), name, "--out",
                directory.toString()));
        file.options().settings().forEach(setting -> arguments.addAll(List.of("-s", setting)));
        file.options().resume().ifPresent(resumed -> arguments.addAll(List.of("--resume", resumed.toString())));
        return arguments;
    }

    /** Until all have ended, or some have and the others do not follow, or cannot. */
    private void awaitNodes(Path logs) throws InterruptedException {
        Optional<ChildProcess> failed = Optional.empty();
        long failureNanos = 0;
        while (nodes.stream().anyMatch(ChildProcess::isAlive)) {
            for (ChildProcess node : nodes) {
                node.awaitEnd(LOOK_MILLIS, TimeUnit.MILLISECONDS);
            }
            Optional<ChildProcess> driver = drivers.stream().filter(one -> !one.isAlive()).findFirst();
            if (driver.isPresent()) {
                complain(driver.get(), logs);
                return;
            }
            if (failed.isEmpty() && !isStopped) {
                failed = nodes.stream().filter(LaunchCommand::hasFailed).findFirst();
                failureNanos = System.nanoTime();
                if (failed.isPresent() && !complainers.get(failed.get().name()).get()) {
                    complain(failed.get(), logs);
                }
            }
            if (failed.isPresent() && failed.get().exitCode() == ExitCode.WRONG_REQUEST) {
                return; // the others would wait for it
            }
            if (failed.isPresent() && System.nanoTime() - failureNanos > TimeUnit.SECONDS.toNanos(LAST_NODES_SECONDS)) {
                System.err.println(
                        COMPLAINT + nodes.stream().filter(ChildProcess::isAlive).map(ChildProcess::name).toList()
                                + " did not end within " + LAST_NODES_SECONDS + " seconds after another had failed");
                return;
            }
        }
    }

    private static void complain(ChildProcess child, Path logs) {
        System.err.println(COMPLAINT + child.name() + " ended with exit code " + child.exitCode()
                + (child.exitCode() > SIGNALS ? ", by signal " + (child.exitCode() - SIGNALS) : "") + "; its log is "
                + logs.resolve(child.name() + ".log"));
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
