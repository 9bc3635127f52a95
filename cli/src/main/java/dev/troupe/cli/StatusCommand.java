package dev.troupe.cli;

import dev.troupe.cluster.NodeStatus;
import dev.troupe.cluster.StatusQuery;
import dev.troupe.config.cluster.NodeSpec;
import dev.troupe.run.RequestException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code troupe status}: what the nodes of a running cluster say of themselves. */
@Command(name = "status", mixinStandardHelpOptions = true, description = {
        "Asks the nodes of a cluster file for their ranks and epoch, and the run for its step, loss and speed."})
final class StatusCommand implements Callable<Integer> {
    @Mixin
    private ClusterFile file;

    @Override
    public Integer call() throws InterruptedException {
        List<NodeSpec> nodes = file.read().cluster().orElseThrow().nodes();
        if (nodes.stream().allMatch(node -> node.managementPort() == 0)) {
            throw new RequestException(
                    "no node of " + file.config() + " has a management-port to ask: give the nodes one each");
        }
        System.out.printf(Locale.ROOT, "%-12s %-28s %-10s %5s  %s%n", "node", "host", "state", "epoch", "ranks");
        List<NodeStatus> answers = new ArrayList<>();
        try (StatusQuery query = new StatusQuery()) {
            for (NodeSpec node : nodes) {
                Optional<NodeStatus> status = node.managementPort() == 0 ? Optional.empty() : query.of(node);
                status.ifPresent(answers::add);
                System.out.printf(Locale.ROOT, "%-12s %-28s %-10s %5s  %s%n", node.name(),
                        node.host() + ":" + node.controlPort(), status.isPresent() ? "up" : "no answer",
                        status.map(told -> "" + told.epoch()).orElse("-"),
                        node.standby() ? "standby" : status.map(NodeStatus::ranks).orElse(node.ranks()));
            }
        }
        if (answers.isEmpty()) {
            System.err.println("troupe: no node answers: the cluster does not run, or its management ports cannot be"
                    + " reached from here");
            return ExitCode.RUN_FAILED;
        }
        System.out.println(answers.stream().flatMap(answer -> answer.progress().stream()).findFirst()
                .map(now -> String.format(Locale.ROOT, "step %d, loss %.4f, %,.0f tokens/s", now.stepsDone(),
                        now.loss(), now.tokensPerSecond()))
                .orElse("no step is done yet"));
        answers.stream().flatMap(answer -> answer.progress().stream()).flatMap(now -> now.notices().stream())
                .forEach(System.out::println);
        return ExitCode.DONE;
    }
}
