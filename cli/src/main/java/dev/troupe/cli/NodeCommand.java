package dev.troupe.cli;

import dev.troupe.cli.options.ClusterFile;
import dev.troupe.cli.options.NextCommand;
import dev.troupe.cli.progress.CoordinatorConsole;
import dev.troupe.cli.progress.RunSummary;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.cli.stop.ParentWatch;
import dev.troupe.cli.stop.StopRequests;
import dev.troupe.cli.stop.StoppableRun;
import dev.troupe.cli.watch.Meters;
import dev.troupe.config.RunSpec;
import dev.troupe.config.cluster.ClusterSpec;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.plan.StartException;
import dev.troupe.plan.Version;
import dev.troupe.plan.checkpoint.Checkpoint;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.run.TrainingRun;
import dev.troupe.run.cluster.ClusterRun;
import dev.troupe.run.cluster.machine.HostNames;
import dev.troupe.run.news.RunOutcome;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe node}: one node of a cluster, in this process. */
@Command(name = "node", mixinStandardHelpOptions = true, description = {
        "Starts one node of a cluster file; nodes may start in any order, and wait for each other."})
final class NodeCommand implements Callable<Integer> {
    @Mixin
    private ClusterFile file;

    @Parameters(index = "1", paramLabel = "NAME", description = "The node, one of cluster.nodes.")
    private String name;

    @Option(names = "--rejoin", description = {
            "Joins a run in progress as a standby, in place of a lost process of this node."})
    private boolean rejoins;

    @Mixin
    private ParentWatch parent;

    private final PrintStream output = System.out;

    @Override
    public Integer call() throws InterruptedException {
        // Set before the first line of the log.
        System.setProperty("troupe.log.node", "node=" + name + " ");
        System.setProperty("troupe.log.events", "INFO");
        try (StopRequests requests = StopRequests.listen(output, StopRequests.NOTHING_BEGUN, StopRequests.PATIENCE)) {
            parent.begin(requests);
            return run(requests);
        }
    }

    private int run(StopRequests requests) throws InterruptedException {
        RunSpec spec = file.read();
        ClusterSpec cluster = spec.cluster().orElseThrow();
        NodeSpec node = cluster.node(name);
        HostNames.await(cluster, output::println);
        try (PreparedRun run = PreparedRun.of(rejoins ? file.rejoining(spec, node) : file.request(spec, node));
                CoordinatorConsole report = new CoordinatorConsole(run, output, Meters.on(node.managementPort()))) {
            if (run.request().share().orElseThrow().leads()) {
                RunSummary.print(run, output);
            } else {
                output.println("node " + name + " joins " + (rejoins ? "the run in progress" : "the cluster") + " at "
                        + cluster.leader().address(cluster.leader().controlPort())
                        + ", and ends if nobody answers within " + cluster.joinTimeout().toSeconds()
                        + " seconds (cluster.join-timeout)");
            }
            requests.starting();
            TrainingRun training = ClusterRun.join(run, node, Version.text(), report);
            StoppableRun joined = new StoppableRun(training);
            parent.answerFor(joined);
            requests.running(joined);
            return end(run, training.await(), report, requests);
        } catch (StartException failure) {
            System.err.println("troupe: " + failure.getMessage());
            return ExitCode.TRY_AGAIN;
        }
    }

    private int end(PreparedRun run, RunOutcome outcome, CoordinatorConsole report, StopRequests requests) {
        // The launcher of this node prints how to resume the run.
        Optional<NextCommand> next = parent.isLaunched() ? Optional.empty() : Optional.of(NextCommand.node(file, name));
        if (outcome.wasRefused()) {
            System.err.println("troupe: " + outcome.failure().orElseThrow());
            return ExitCode.WRONG_REQUEST;
        }
        if (report.leads()) {
            return report.end(outcome, requests, next);
        }
        if (outcome.failure().isPresent()) {
            System.err.println("troupe: the run failed: " + outcome.failure().get());
            return ExitCode.RUN_FAILED;
        }
        if (outcome.stepsDone() < run.spec().training().steps()) {
            output.println("node " + name + " has stopped after " + outcome.stepsDone() + " steps");
            Path directory = run.request().output();
            next.ifPresent(command -> output
                    .println(command.sentence(directory, Checkpoint.newestSteps(directory).isPresent())));
            return ExitCode.STOPPED;
        }
        output.println("node " + name + " is done after " + outcome.stepsDone() + " steps");
        return ExitCode.DONE;
    }
}
