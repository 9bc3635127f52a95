package dev.troupe.cli.launch;

import dev.troupe.cli.options.ClusterFile;
import dev.troupe.cli.progress.CoordinatorConsole;
import dev.troupe.cli.progress.MetricsLog;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.cli.stop.StopRequests;
import dev.troupe.cluster.MachineDriver;
import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.plan.UsageException;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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
 * <p>Thread rule: {@link #run} on one thread, {@link #stop} and {@link #stopNow} on any, the rest after the end.
 */
public final class ProcessSupervisor implements StopRequests.Stoppable {
    private static final String COMPLAINT = "troupe: ";
    private static final long DRIVER_START_SECONDS = 60;
    private static final long DRIVER_END_SECONDS = 15;
    /** Nodes hear of a failure from the coordinator, or notice its loss; a node that has not ended by then is killed. */
    private static final long LAST_NODES_SECONDS = 60;
    private static final int STEPS_OF_PATIENCE = 3;
    private static final double LONGEST_STEP_SECONDS = 600;
    /** A process that was still starting when the run ended is told of the end by no node. */
    private static final long LAST_REJOINED_SECONDS = 5;
    /** Longer than a node takes to exit by itself. */
    private static final long STOP_NOW_SECONDS = StopRequests.PATIENCE.toSeconds() + 15;
    private static final long LOOK_MILLIS = 200;

    /** A node that ended before the run did, and the number of steps in the metrics at that time. */
    private record Failed(NodeProcess node, long stepsBefore, long sinceNanos) {
        Duration lived() {
            return Duration.ofNanos(sinceNanos - node.startNanos());
        }
    }

    private final ClusterFile file;
    private final RunSpec spec;
    private final Path directory;
    private final Path logs;
    private final Optional<Path> resume;
    private final PrintStream output;
    private final List<ChildProcess> drivers = new ArrayList<>();
    private final List<String> startedDrivers = new ArrayList<>();
    private final List<NodeProcess> nodes = new CopyOnWriteArrayList<>();
    /** The ended nodes without which the run continued. */
    private final List<NodeProcess> gone = new ArrayList<>();
    /** The ended nodes of which it is not known yet whether the run continues without them. */
    private final List<Failed> failed = new ArrayList<>();
    /** The last killed or crashed process without which the run seemed to continue. */
    private Optional<Failed> lastGone = Optional.empty();
    private final RestartBudget restartBudget;
    private long stepsSeen;
    /** The time since which a node was done or had stopped, so that the run is over; zero while none is. */
    private long overNanos;
    private volatile String leader;
    private Optional<String> lost = Optional.empty();
    private final Set<String> said = ConcurrentHashMap.newKeySet();
    /** Set once nodes end at the request of this process, which they need not explain. */
    private volatile boolean isEnding;
    private volatile boolean isStopped;
    /** The time since which the nodes have been asked to stop at once; zero before. */
    private volatile long stoppedNowNanos;

    /**
     * @param resume
     *            the run or the checkpoint that the nodes resume
     * @param restartBudget
     *            most restarts in a row of a node's process without which the run continues
     * @param output
     *            receives the progress of the run
     */
    public ProcessSupervisor(ClusterFile file, RunSpec spec, Path directory, Path logs, Optional<Path> resume,
            int restartBudget,
            PrintStream output) {
        this.file = file;
        this.spec = spec;
        this.directory = directory;
        this.logs = logs;
        this.resume = resume;
        this.restartBudget = new RestartBudget(restartBudget);
        this.leader = ClusterFile.leader(spec.cluster().orElseThrow()).name();
        this.output = output;
    }

    @Override
    public void stop() {
        isStopped = true;
        nodes.forEach(node -> node.process().stop());
    }

    @Override
    public void stopNow() {
        stoppedNowNanos = System.nanoTime();
        isStopped = true;
        nodes.forEach(node -> node.process().stopNow());
    }

    /** The coordinator's node answers where this process has started it, since it knows the run's progress. */
    @Override
    public boolean answers() {
        return nodes.stream().anyMatch(node -> node.name().equals(leader) && node.isAlive());
    }

    /** Runs the nodes to their end, and cleans up after them. */
    public void run(List<NodeSpec> local) throws InterruptedException {
        List<String> hosts = local.stream().map(NodeSpec::host).distinct().toList();
        try {
            for (String host : hosts) {
                startDriver(host);
            }
            for (NodeSpec node : isStopped ? List.<NodeSpec>of() : local) {
                add(startNode(node, false));
            }
            if (!nodes.isEmpty()) {
                output.println(local.size() + " nodes start; their logs are in " + logs);
            }
            awaitNodes();
        } finally {
            isEnding = true;
            nodes.forEach(node -> {
                if (lost.isPresent() || stoppedNowNanos != 0) {
                    node.process().kill();
                } else {
                    node.process().stopNow();
                }
            });
            for (NodeProcess node : Stream.concat(nodes.stream(), gone.stream()).toList()) {
                node.process().end(DRIVER_END_SECONDS, TimeUnit.SECONDS);
            }
            for (ChildProcess driver : drivers) {
                driver.end(DRIVER_END_SECONDS, TimeUnit.SECONDS);
            }
            startedDrivers.forEach(host -> MachineDriver.clear(spec, host));
        }
    }

    /** Each host has a driver: nodes of one machine may have several addresses, as if they were several machines. */
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
        while (!ready.await(LOOK_MILLIS, TimeUnit.MILLISECONDS) && !isStopped) {
            if (driver.awaitEnd(0, TimeUnit.MILLISECONDS)) {
                throw new UsageException(complaint.get() == null
                        ? "the media driver of " + host + " did not start; see " + log
                        : complaint.get());
            }
            if (System.nanoTime() - deadline > 0) {
                throw new UsageException("the media driver of " + host + " did not start within "
                        + DRIVER_START_SECONDS + " seconds; see " + log);
            }
        }
        startedDrivers.add(host);
    }

    private NodeProcess startNode(NodeSpec node, boolean rejoins) {
        AtomicBoolean complained = new AtomicBoolean();
        List<String> arguments = arguments("node", node.name());
        if (rejoins) {
            arguments.add("--rejoin");
        }
        return new NodeProcess(node, ChildProcess.start(node.name(), arguments,
                logs.resolve(node.name() + ".log"), line -> onLine(node.name(), line), complaints(complained)),
                complained, rejoins, System.nanoTime());
    }

    /** Requests that were made before the process was in the list have not reached it. */
    private void add(NodeProcess node) {
        nodes.add(node);
        if (isStopped) {
            node.process().stop();
        }
        if (stoppedNowNanos != 0) {
            node.process().stopNow();
        }
    }

    /** Prints the lines of the coordinator's node: the first of the file, or the node that has taken over. */
    private void onLine(String node, String line) {
        if (line.equals(CoordinatorConsole.TAKEN_OVER)) {
            leader = node;
            output.println(node + " leads the run from here");
        } else if (node.equals(leader)) {
            output.println(line);
        }
    }

    /** Prints the complaints of nodes; their other lines are in the logs. */
    private Consumer<String> complaints(AtomicBoolean complained) {
        return line -> {
            if (line.startsWith(COMPLAINT) && !isEnding) {
                complained.set(true);
                if (said.add(line)) { // a complaint of all nodes is printed once
                    System.err.println(line);
                }
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

    /** Waits until all nodes have ended, or some have and the others do not follow, or cannot. */
    private void awaitNodes() throws InterruptedException {
        boolean isWaiting = true;
        while (isWaiting && isAnyAlive()) {
            nodes.stream().filter(NodeProcess::isAlive).findFirst().orElseThrow().process()
                    .awaitEnd(LOOK_MILLIS, TimeUnit.MILLISECONDS);
            // A driver that ended in order had no node left to serve.
            Optional<ChildProcess> driver = drivers.stream()
                    .filter(one -> !one.isAlive() && one.exitCode() != ExitCode.DONE).findFirst();
            if (driver.isPresent()) {
                lost = isStopped ? Optional.empty() : driver.map(ChildProcess::name);
                complain(driver.get());
                return;
            }
            if (!isStopped) {
                lookForFailed();
                goOnWithout();
            }
            isWaiting = !isRefused() && !isLate() && !isNowLate();
        }
        failed.stream().map(Failed::node).findFirst().filter(first -> !first.hasComplained().get())
                .ifPresent(first -> complain(first.process())); // the first failure ended the other nodes
        lost = failed.stream().map(Failed::node).filter(NodeProcess::isLost).map(NodeProcess::name).findFirst()
                .or(this::lostAtLast);
    }

    /**
     * Returns the process that ended last, if its end is recent: a step that was almost committed is still committed
     * after the end, and does not prove that the run continues.
     */
    private Optional<String> lostAtLast() {
        return nodes.stream().anyMatch(NodeProcess::isOver) || isStopped
                ? Optional.empty()
                : lastGone.filter(one -> System.nanoTime() - one.sinceNanos() < patienceNanos())
                        .map(one -> one.node().name());
    }

    private boolean isAnyAlive() {
        return nodes.stream().anyMatch(NodeProcess::isAlive);
    }

    private void lookForFailed() {
        nodes.stream().filter(node -> node.hasFailed() && failed.stream().noneMatch(one -> one.node() == node))
                .forEach(node -> failed.add(new Failed(node, stepsDone(), System.nanoTime())));
    }

    /**
     * Removes ended nodes without which the run continues: a step was committed after their end, or another node is
     * done. Their processes start again within the restart budget.
     */
    private void goOnWithout() {
        boolean isOver = nodes.stream().anyMatch(NodeProcess::isOver);
        for (Failed one : List.copyOf(failed)) {
            NodeProcess node = one.node();
            boolean isDone = isOver && node.isLost() && !node.name().equals(leader); // the coordinator writes the model
            if (!isDone && stepsDone() <= one.stepsBefore()) {
                continue;
            }
            failed.remove(one);
            nodes.remove(node);
            gone.add(node);
            if (node.isLost()) {
                lastGone = Optional.of(one);
            }
            // A process that was started again and refused would be refused again.
            boolean startsAgain = !isOver && isAnyAlive() && !(node.rejoined() && node.isRefused())
                    && restartBudget.next(node.name(), one.lived());
            output.println(node.name() + " ended " + node.process().howItEnded() + "; the run goes on without it"
                    + (startsAgain ? ", and its process starts again" : ""));
            if (startsAgain) {
                add(startNode(node.spec(), true));
            }
        }
    }

    /** Returns the number of steps in the metrics, which the coordinator writes, on this machine or another. */
    private long stepsDone() {
        try {
            stepsSeen = MetricsLog.stepCount(directory.resolve(MetricsLog.FILE));
        } catch (IOException | UncheckedIOException _) {
            // The last count is valid until the file can be read again.
        }
        return stepsSeen;
    }

    /** Returns whether a node was refused at its start; the others would wait for it. */
    private boolean isRefused() {
        return nodes.stream().anyMatch(node -> !node.rejoined() && node.isRefused());
    }

    /** Returns whether nodes still run that should have ended: after a node gave up, or after the run. */
    private boolean isLate() {
        long now = System.nanoTime();
        if (overNanos == 0 && nodes.stream().anyMatch(NodeProcess::isOver)) {
            overNanos = now;
        }
        boolean isRunOver = overNanos != 0
                && nodes.stream().filter(NodeProcess::isAlive).allMatch(NodeProcess::rejoined)
                && now - overNanos > TimeUnit.SECONDS.toNanos(LAST_REJOINED_SECONDS);
        boolean isHeldUp = failed.stream().anyMatch(one -> !one.node().isLost()
                && now - one.sinceNanos() > TimeUnit.SECONDS.toNanos(LAST_NODES_SECONDS)
                && now - one.sinceNanos() > patienceNanos());
        if (isHeldUp) {
            System.err.println(
                    COMPLAINT + nodes.stream().filter(NodeProcess::isAlive).map(NodeProcess::name).toList()
                            + " did not end within " + TimeUnit.NANOSECONDS.toSeconds(patienceNanos())
                            + " seconds after another had failed");
        }
        return isRunOver || isHeldUp;
    }

    /** Returns whether nodes still run long after they were asked to stop at once. */
    private boolean isNowLate() {
        return stoppedNowNanos != 0
                && System.nanoTime() - stoppedNowNanos > TimeUnit.SECONDS.toNanos(STOP_NOW_SECONDS);
    }

    /** Returns the longest time in which a run that continues shows no new step: longer than some of its steps. */
    private long patienceNanos() {
        double step = 0;
        try {
            step = MetricsLog.longestStepSeconds(directory.resolve(MetricsLog.FILE));
        } catch (IOException | UncheckedIOException _) {
            // No step is known.
        }
        double seconds = LAST_NODES_SECONDS + STEPS_OF_PATIENCE * Math.min(step, LONGEST_STEP_SECONDS);
        return (long) (seconds * 1e9);
    }

    private void complain(ChildProcess child) {
        System.err.println(COMPLAINT + child.name() + " ended " + child.howItEnded() + "; its log is "
                + logs.resolve(child.name() + ".log"));
    }

    /** Returns the killed or crashed process without which the run could not continue, if there was one. */
    public Optional<String> lost() {
        return lost;
    }

    /** Returns the exit code of the run. A refused request tells more than the ends of the other nodes. */
    public int exitCode() {
        if (isRefused()) {
            return ExitCode.WRONG_REQUEST;
        }
        boolean hasFailed = nodes.stream().anyMatch(node -> !node.isOver() && !node.rejoined());
        boolean isDone = nodes.stream().anyMatch(NodeProcess::isDone);
        // A process that was started again too late to take part is stopped when the run is done.
        boolean wasStopped = !isDone && nodes.stream().anyMatch(NodeProcess::isStopped);
        if (stoppedNowNanos != 0 || isStopped && nodes.isEmpty() || wasStopped && !hasFailed) {
            return ExitCode.STOPPED;
        }
        return isDone && !hasFailed ? ExitCode.DONE : ExitCode.RUN_FAILED;
    }
}
