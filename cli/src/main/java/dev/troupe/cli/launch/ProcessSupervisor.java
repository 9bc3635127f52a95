package dev.troupe.cli.launch;

import dev.troupe.cli.options.ClusterFile;
import dev.troupe.cli.progress.CoordinatorConsole;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.cli.stop.ProgressAnswer;
import dev.troupe.cli.stop.StopRequests;
import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.protocol.supervisor.RunRestarts;
import dev.troupe.protocol.supervisor.SupervisorCommand;
import dev.troupe.protocol.supervisor.SupervisorEvent;
import dev.troupe.protocol.supervisor.SupervisorMachine;
import dev.troupe.protocol.supervisor.SupervisorSettings;
import dev.troupe.run.cluster.machine.MachineDriver;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The supervisor of this machine's nodes and media drivers, as processes. It starts them, passes their lines and ends to a
 * {@link SupervisorMachine}, which decides, and carries out its commands.
 *
 * <p>Thread rule: {@link #run} on one thread, {@link #stop} and {@link #stopNow} on any, the rest after the end.
 */
public final class ProcessSupervisor implements StopRequests.Stoppable {
    private static final long PROCESS_END_SECONDS = 15;
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** The process of a media driver, and the reason that it printed for its end. */
    private record Driver(String host, ChildProcess process, LastWords words) {
        SupervisorEvent ended() {
            return new SupervisorEvent.DriverEnded(host, process.exitCode() == ExitCode.DONE,
                    words.with(process.howItEnded()), words.complaint());
        }
    }

    private interface Work {
        void run() throws InterruptedException;
    }

    private final ClusterFile file;
    private final RunSpec spec;
    private final Path directory;
    private final Path logs;
    private final Optional<Path> resume;
    private final PrintStream output;
    private final SupervisorMachine machine;
    /** What the threads of this process have for the thread of {@link #run}. */
    private final BlockingQueue<Work> inbox = new LinkedBlockingQueue<>();
    /** The living processes by host and by node. */
    private final Map<String, Driver> drivers = new LinkedHashMap<>();
    private final Map<String, NodeProcess> nodes = new ConcurrentHashMap<>();
    /** The hosts of the drivers that this process has started, and not another one. */
    private final List<String> ownHosts = new ArrayList<>();
    private volatile String leader;
    private final Set<String> said = ConcurrentHashMap.newKeySet();
    /** Set when nodes end at the request of this process, so that their ends need no explanation. */
    private volatile boolean isEnding;
    private boolean kills;
    private boolean launchesAgain;

    /**
     * @param resume the run or the checkpoint that the nodes resume
     * @param restartBudget most restarts in a row of a node's process
     * @param output receives the progress of the run
     */
    public ProcessSupervisor(ClusterFile file, RunSpec spec, List<NodeSpec> local, Path directory, Path logs,
            Optional<Path> resume, int restartBudget, RunRestarts runRestarts, PrintStream output) {
        this.file = file;
        this.spec = spec;
        this.directory = directory;
        this.logs = logs;
        this.resume = resume;
        this.leader = spec.cluster().orElseThrow().leader().name();
        this.output = output;
        this.machine = new SupervisorMachine(new SupervisorSettings(
                local.stream().map(node -> new SupervisorSettings.Node(node.name(), node.host())).toList(), leader,
                restartBudget, local.size() == spec.cluster().orElseThrow().nodes().size(), logs.toString()),
                runRestarts);
    }

    @Override
    public void stop() {
        add(new SupervisorEvent.StopAsked(false));
    }

    @Override
    public void stopNow() {
        add(new SupervisorEvent.StopAsked(true));
    }

    /** Returns whether this process has started the coordinator's node, which answers with the run's progress. */
    @Override
    public boolean answers() {
        return nodes.containsKey(leader);
    }

    /** Runs the nodes to their end, and cleans up after them. */
    public void run() throws InterruptedException {
        add(new SupervisorEvent.Begin());
        try {
            long nextLook = System.nanoTime();
            while (!machine.isOver()) {
                Work next = inbox.poll(nextLook - System.nanoTime(), TimeUnit.NANOSECONDS);
                if (next == null) {
                    reportEnds();
                    nextLook = System.nanoTime() + LOOK_NANOS;
                    on(new SupervisorEvent.Tick());
                } else {
                    next.run();
                }
            }
        } finally {
            isEnding = true;
            endProcesses();
        }
    }

    private void add(SupervisorEvent event) {
        inbox.add(() -> on(event));
    }

    private void on(SupervisorEvent event) {
        machine.on(event, System.nanoTime()).forEach(this::perform);
    }

    private void perform(SupervisorCommand command) {
        switch (command) {
            case SupervisorCommand.StartDriver(String host) -> startDriver(host);
            case SupervisorCommand.StartNode(String node, boolean rejoins) -> startNode(node, rejoins);
            case SupervisorCommand.Ask(String node, long question, boolean areOthersStarting) ->
                Optional.ofNullable(nodes.get(node))
                        .ifPresent(asked -> asked.process().askProgress(question, areOthersStarting));
            case SupervisorCommand.Stop(String node, boolean atOnce) ->
                Optional.ofNullable(nodes.get(node)).map(NodeProcess::process)
                        .ifPresent(atOnce ? ChildProcess::stopNow : ChildProcess::stop);
            case SupervisorCommand.Say(String sentence) -> output.println(sentence);
            case SupervisorCommand.Complain(String sentence) -> System.err.println(LastWords.COMPLAINT + sentence);
            case SupervisorCommand.Refuse(String why) -> {
                ownHosts.removeLast();
                throw new UsageException(why);
            }
            case SupervisorCommand.End(boolean atOnce) -> kills = atOnce;
            case SupervisorCommand.LaunchAgain _ -> launchesAgain = true;
        }
    }

    /** Reports the processes that have ended; the leader's end comes after the last lines that it printed. */
    private void reportEnds() throws InterruptedException {
        for (Driver driver : List.copyOf(drivers.values())) {
            if (!driver.process().isAlive()) {
                driver.process().end(PROCESS_END_SECONDS, TimeUnit.SECONDS);
                drivers.remove(driver.host());
                add(driver.ended());
            }
        }
        for (NodeProcess node : List.copyOf(nodes.values())) {
            if (!node.process().isAlive()) {
                node.process().end(PROCESS_END_SECONDS, TimeUnit.SECONDS);
                nodes.remove(node.process().name());
                if (node.process().name().equals(leader)) {
                    add(node.ended());
                } else {
                    on(node.ended());
                }
            }
        }
    }

    private void endProcesses() throws InterruptedException {
        nodes.values().stream().map(NodeProcess::process).forEach(kills ? ChildProcess::kill : ChildProcess::stopNow);
        for (NodeProcess node : nodes.values()) {
            node.process().end(PROCESS_END_SECONDS, TimeUnit.SECONDS);
            add(node.ended());
        }
        for (Driver driver : drivers.values()) {
            driver.process().end(PROCESS_END_SECONDS, TimeUnit.SECONDS);
        }
        ownHosts.forEach(host -> MachineDriver.clear(spec, host));
        add(new SupervisorEvent.AllEnded(Checkpoint.newestSteps(directory)));
        for (Work next = inbox.poll(); next != null; next = inbox.poll()) {
            next.run();
        }
    }

    private void startDriver(String host) {
        LastWords words = new LastWords(_ -> {
        });
        String name = SupervisorMachine.driver(host);
        ChildProcess process = ChildProcess.start(name, arguments("media-driver", host), log(name), line -> {
            if (line.equals(MediaDriverCommand.READY)) {
                add(new SupervisorEvent.DriverReady(host));
            }
        }, words);
        drivers.put(host, new Driver(host, process, words));
        ownHosts.add(host);
    }

    private void startNode(String node, boolean rejoins) {
        LastWords words = new LastWords(this::onComplaint);
        List<String> arguments = arguments("node", node);
        if (rejoins) {
            arguments.add("--rejoin");
        }
        nodes.put(node, new NodeProcess(ChildProcess.start(node, arguments, log(node), line -> onLine(node, line),
                words), words));
    }

    private Path log(String process) {
        return logs.resolve(process + ".log");
    }

    private void onLine(String node, String line) {
        Optional<ProgressAnswer> answer = ProgressAnswer.of(line);
        if (answer.isPresent()) {
            add(new SupervisorEvent.Answered(node, answer.get().question(), answer.get().isUp(),
                    answer.get().stepsDone()));
        } else {
            inbox.add(() -> show(node, line));
        }
    }

    /**
     * Prints a line of the coordinator's node: the first of the file, or the node that has taken over. The ends of other
     * processes come first, since they may be the cause of a recovery that the line reports.
     */
    void show(String node, String line) throws InterruptedException {
        if (isEnding) {
            return; // a process that this one ends has nothing to say
        }
        reportEnds();
        if (line.equals(CoordinatorConsole.TAKEN_OVER)) {
            leader = node;
            on(new SupervisorEvent.TookOver(node));
            output.println(node + " leads the run from here");
        } else if (node.equals(leader)) {
            output.println(line);
        }
    }

    /** Prints the complaints of nodes; their other lines are in the logs. */
    private void onComplaint(String line) {
        if (!isEnding && said.add(line)) { // a complaint of all nodes is printed once
            System.err.println(line);
        }
    }

    private List<String> arguments(String command, String name) {
        List<String> arguments = new ArrayList<>(List.of(command, file.config().toString(), name, "--out",
                directory.toString()));
        file.options().settings().forEach(setting -> arguments.addAll(List.of("-s", setting)));
        resume.ifPresent(resumed -> arguments.addAll(List.of("--resume", resumed.toString())));
        return arguments;
    }

    public boolean launchesAgain() {
        return launchesAgain;
    }

    public int exitCode() {
        return switch (machine.end()) {
            case DONE -> ExitCode.DONE;
            case FAILED -> ExitCode.RUN_FAILED;
            case REFUSED -> ExitCode.WRONG_REQUEST;
            case STOPPED -> ExitCode.STOPPED;
        };
    }
}
