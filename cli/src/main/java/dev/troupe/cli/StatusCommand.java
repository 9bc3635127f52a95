package dev.troupe.cli;

import dev.troupe.cli.options.ClusterFile;
import dev.troupe.cli.progress.TrainingReport;
import dev.troupe.cli.report.Terminal;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.cli.watch.RunWatch;
import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.look.output.EventsFile;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.run.cluster.machine.MachineDriver;
import dev.troupe.run.cluster.status.NodeStatus;
import dev.troupe.run.cluster.status.StatusQuery;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe status}: the reports of the nodes of a running cluster, or the run in a directory on the screen. */
@Command(name = "status", mixinStandardHelpOptions = true, description = {
        "Asks the nodes of a cluster file for their ranks and epoch, and the run for its step, loss and speed.",
        "Of the directory of a run: its state, its last step by rank and cause, and its newest events."})
final class StatusCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "CONFIG|RUN", description = {
            "A HOCON file with cluster.nodes, or the directory of a run."})
    private Path asked;

    @Option(names = "-s", paramLabel = "key=value", description = {
            "Sets one key of CONFIG, without troupe, as the nodes were started with. May be repeated."})
    private List<String> settings = List.of();

    @Option(names = "--out", paramLabel = "DIR", description = {
            "The directory of the run of CONFIG, for --watch, and if no node answers. Default: runs/NAME."})
    private Path out;

    @Option(names = "--watch", description = {
            "Shows the run of the directory, or of the cluster file, again every second until it has ended."})
    private boolean watches;

    @Override
    public Integer call() throws InterruptedException {
        boolean isRun = Files.isDirectory(asked);
        if (isRun || watches) {
            RunWatch watch = new RunWatch(isRun ? asked : directory(),
                    System.out,
                    Terminal.ofOutput());
            return watches ? watch.untilTheEnd() : watch.once();
        }
        RunSpec spec = ClusterFile.read(asked, settings);
        ClusterSpec cluster = spec.cluster().orElseThrow();
        List<NodeSpec> nodes = cluster.nodes();
        if (nodes.stream().allMatch(node -> node.managementPort() == 0)) {
            throw new UsageException(
                    "no node of " + asked + " has a management-port to ask: give the nodes one each");
        }
        System.out.printf(Locale.ROOT, "%-12s %-28s %-10s %5s  %s%n", "node", "host", "state", "epoch", "ranks");
        List<NodeStatus> answers = new ArrayList<>();
        try (StatusQuery query = new StatusQuery(cluster.tls())) {
            for (NodeSpec node : nodes) {
                Optional<NodeStatus> status = node.managementPort() == 0 ? Optional.empty() : query.of(node);
                status.ifPresent(answers::add);
                System.out.printf(Locale.ROOT, "%-12s %-28s %-10s %5s  %s%n", node.name(),
                        node.address(node.controlPort()), status.isPresent() ? "up" : "no answer",
                        status.map(known -> "" + known.epoch()).orElse("-"),
                        node.standby() ? "standby" : status.map(NodeStatus::ranks).orElse(node.ranks()));
            }
        }
        if (answers.isEmpty() && nodes.stream().map(NodeSpec::host).distinct()
                .anyMatch(host -> MachineDriver.isAtWork(spec, host))) {
            System.out.println(
                    "the cluster starts: its media driver is at work on this machine, and no node answers yet");
            return ExitCode.DONE;
        }
        if (answers.isEmpty()) {
            return withoutAnswer(out == null ? RunDirectory.usual(spec) : out);
        }
        System.out.println(answers.stream().flatMap(answer -> answer.progress().stream()).findFirst()
                .map(now -> String.format(Locale.ROOT, "step %d, loss %.4f, %,.0f tokens/s", now.stepsDone(),
                        now.loss(), now.tokensPerSecond()))
                .orElseGet(() -> start(nodes, answers)));
        answers.stream().flatMap(answer -> answer.progress().stream()).flatMap(now -> now.notices().stream())
                .forEach(System.out::println);
        return ExitCode.DONE;
    }

    /** Shows the run of the directory, which may have ended; returns the exit code. */
    private static int withoutAnswer(Path directory) {
        System.err.println("troupe: no node answers: the cluster does not run, or its management ports cannot be"
                + " reached from here");
        if (!Files.isRegularFile(directory.resolve(EventsFile.FILE))) {
            return ExitCode.RUN_FAILED;
        }
        System.out.println("the last run in " + directory + ":");
        return new RunWatch(directory, System.out, Terminal.ofOutput()).once();
    }

    private Path directory() {
        RunSpec spec = ClusterFile.read(asked, settings);
        return out == null ? RunDirectory.usual(spec) : out;
    }

    /** Returns, for a run without a step, the missing nodes as the answering nodes know them. */
    private static String start(List<NodeSpec> nodes, List<NodeStatus> answers) {
        List<String> awaited = answers.stream().flatMap(answer -> answer.awaited().stream()).distinct().toList();
        if (!awaited.isEmpty()) {
            return "the run starts: it is " + TrainingReport.waitingFor(awaited);
        }
        List<String> silent = nodes.stream()
                .filter(node -> node.managementPort() != 0 && !node.standby()
                        && answers.stream().noneMatch(answer -> answer.node().equals(node.name())))
                .map(NodeSpec::name).toList();
        return silent.isEmpty()
                ? "the run starts: all its nodes answer, and no step is done yet"
                : "the run starts: " + String.join(", ", silent) + " did not answer, and no step is done yet";
    }
}
