package dev.troupe.cli;

import dev.troupe.cluster.MachineDriver;
import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.run.RequestException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The nodes of a cluster that live on this machine, and their media drivers, as processes: from their start to their end.
 *
 * <p>Thread rule: {@link #run} on one thread, {@link #stop} on any, the rest after the end.
 */
final class LocalNodes {
    private static final String COMPLAINT = "troupe: ";
    private static final long DRIVER_START_SECONDS = 60;
    private static final long DRIVER_END_SECONDS = 15;
    /** Nodes hear of a failure from the coordinator, or notice that it is gone; whoever has not by then is ended. */
    private static final long LAST_NODES_SECONDS = 60;
    private static final long LOOK_MILLIS = 200;
    /** Beyond it an exit code tells the signal that ended a process. */
    private static final int SIGNALS = 128;
    private static final Set<Integer> OWN_EXIT_CODES = Set.of(ExitCode.DONE, ExitCode.RUN_FAILED,
            ExitCode.WRONG_REQUEST, ExitCode.INTERRUPTED);

    private final ClusterFile file;
    private final RunSpec spec;
    private final Path directory;
    private final Path logs;
    private final Optional<Path> resume;
    private final PrintStream output;
    private final List<ChildProcess> drivers = new ArrayList<>();
    private final List<String> startedDrivers = new ArrayList<>();
    private final List<ChildProcess> nodes = new CopyOnWriteArrayList<>();
    /** For each node whether it has said why it ends. */
    private final Map<String, AtomicBoolean> complainers = new HashMap<>();
    private Optional<String> lost = Optional.empty();
    /** From when on nodes end because this process says so, which they need not explain. */
    private volatile boolean isEnding;
    /** Whether they were asked to stop after their step, for which no exit code stands. */
    private volatile boolean isStopped;

    /**
     * @param resume
     *            the run or the checkpoint they go on from
     * @param output
     *            gets the progress of the run
     */
    LocalNodes(ClusterFile file, RunSpec spec, Path directory, Path logs, Optional<Path> resume, PrintStream output) {
        this.file = file;
        this.spec = spec;
        this.directory = directory;
        this.logs = logs;
        this.resume = resume;
        this.output = output;
    }

    /** Asks the nodes to end after the step that is under way, with a checkpoint. */
    void stop() {
        isStopped = true;
        nodes.forEach(ChildProcess::interrupt);
    }

    /** Until the nodes have ended; then nothing of them is left. */
    void run(List<NodeSpec> local) throws InterruptedException {
        List<String> hosts = local.stream().map(NodeSpec::host).distinct().toList();
        try {
            for (String host : hosts) {
                startDriver(host);
            }
            for (NodeSpec node : local) {
                nodes.add(startNode(node,
                        node.equals(ClusterFile.leader(spec.cluster().orElseThrow()))));
            }
            output.println(local.size() + " nodes start; their logs are in " + logs);
            awaitNodes();
        } finally {
            isEnding = true;
            nodes.forEach(lost.isPresent() ? ChildProcess::kill : ChildProcess::interrupt);
            for (ChildProcess node : nodes) {
                node.end(DRIVER_END_SECONDS, TimeUnit.SECONDS);
            }
            for (ChildProcess driver : drivers) {
                driver.end(DRIVER_END_SECONDS, TimeUnit.SECONDS);
            }
            startedDrivers.forEach(host -> MachineDriver.clear(spec, host));
        }
    }

    /** One a host: nodes of one machine may have several addresses, as if they were several machines. */
    private void startDriver(String host) throws InterruptedException {
        CountDownLatch ready = new CountDownLatch(1);
        AtomicReference<String> complaint = new AtomicReference<>();
        String name = "media-driver-" + host;
        Path log = logs.resolve(name + ".log");
        ChildProcess driver = ChildProcess.start(name, arguments("media-driver", host), log, line -> {
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

    private ChildProcess startNode(NodeSpec node, boolean leads) {
        AtomicBoolean complained = new AtomicBoolean();
        complainers.put(node.name(), complained);
        return ChildProcess.start(node.name(), arguments("node", node.name()),
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

    private List<String> arguments(String command, String name) {
        List<String> arguments = new ArrayList<>(List.of(command, file.config().toString(), name, "--out",
                directory.toString()));
        file.options().settings().forEach(setting -> arguments.addAll(List.of("-s", setting)));
        resume.ifPresent(resumed -> arguments.addAll(List.of("--resume", resumed.toString())));
        return arguments;
    }

    /** Until all have ended, or some have and the others do not follow, or cannot. */
    private void awaitNodes() throws InterruptedException {
        Optional<ChildProcess> failed = Optional.empty();
        long failureNanos = 0;
        while (nodes.stream().anyMatch(ChildProcess::isAlive)) {
            for (ChildProcess node : nodes) {
                node.awaitEnd(LOOK_MILLIS, TimeUnit.MILLISECONDS);
            }
            lookForLost();
            Optional<ChildProcess> driver = drivers.stream().filter(one -> !one.isAlive()).findFirst();
            if (driver.isPresent()) {
                complain(driver.get());
                return;
            }
            if (failed.isEmpty() && !isStopped) {
                failed = nodes.stream().filter(LocalNodes::hasFailed).findFirst();
                failureNanos = System.nanoTime();
                if (failed.isPresent() && !complainers.get(failed.get().name()).get()) {
                    complain(failed.get());
                }
            }
            if (failed.isPresent() && failed.get().exitCode() == ExitCode.WRONG_REQUEST || lost.isPresent()) {
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

    private void complain(ChildProcess child) {
        System.err.println(COMPLAINT + child.name() + " ended with exit code " + child.exitCode()
                + (child.exitCode() > SIGNALS ? ", by signal " + (child.exitCode() - SIGNALS) : "") + "; its log is "
                + logs.resolve(child.name() + ".log"));
    }

    private static boolean hasFailed(ChildProcess node) {
        return !node.isAlive() && node.exitCode() != ExitCode.DONE;
    }

    /** A process that ended while the nodes were at work and did not say so itself: somebody killed it, or it broke down. */
    Optional<String> lost() {
        return lost;
    }

    private void lookForLost() {
        if (lost.isEmpty() && !isStopped) {
            lost = Stream.concat(drivers.stream().filter(one -> !one.isAlive()),
                    nodes.stream().filter(LocalNodes::isLost)).map(ChildProcess::name).findFirst();
        }
    }

    private static boolean isLost(ChildProcess node) {
        return !node.isAlive() && !OWN_EXIT_CODES.contains(node.exitCode());
    }

    /** That the request was wrong tells more than how the others ended then. */
    int exitCode() {
        if (nodes.stream().anyMatch(node -> !node.isAlive() && node.exitCode() == ExitCode.WRONG_REQUEST)) {
            return ExitCode.WRONG_REQUEST;
        }
        return nodes.stream().allMatch(node -> !node.isAlive() && node.exitCode() == ExitCode.DONE)
                ? ExitCode.DONE
                : ExitCode.RUN_FAILED;
    }
}
