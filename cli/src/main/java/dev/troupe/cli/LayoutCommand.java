package dev.troupe.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.cli.options.ConfigOptions;
import dev.troupe.cli.stop.ExitCode;
import dev.troupe.config.group.GroupKind;
import dev.troupe.config.group.ParallelLayout;
import dev.troupe.plan.UsageException;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe layout}: every process group, as lists of ranks; or the sharding plan of a run. */
@Command(name = "layout", mixinStandardHelpOptions = true, description = {
        "Prints the process groups of a world of ranks, or with --plan the sharding plan of a run; runs nothing."})
final class LayoutCommand implements Callable<Integer> {
    enum Format {
        table, json
    }

    /** More ranks than any cluster has, but still listable. */
    private static final int MOST_RANKS = 1_000_000;
    private static final JsonMapper JSON = new JsonMapper();

    @Option(names = "--plan", description = {
            "Prints the sharding plan of a run's model: a type for each parameter and each exchange of tensors."})
    private boolean plan;

    @Mixin
    private ConfigOptions options;

    @Option(names = "--world", paramLabel = "N", description = "Ranks there are.")
    private Integer world;

    @Option(names = "--pipeline", paramLabel = "P", description = "Ranks in a pipeline.")
    private Integer pipeline;

    @Option(names = "--tensor", paramLabel = "T", description = "Ranks that share a stage.")
    private Integer tensor;

    @Option(names = "--data", paramLabel = "D", description = {
            "Pipelines side by side; default: the number that fills the world."})
    private Integer data;

    @Option(names = "--expert", paramLabel = "R", defaultValue = "1", description = {
            "Data ranks of a stage that divide its experts; default: 1."})
    private int expert;

    @Option(names = "--format", defaultValue = "table", description = "${COMPLETION-CANDIDATES}; default: table.")
    private Format format;

    private final PrintStream output = System.out;

    @Override
    public Integer call() throws JsonProcessingException {
        if (plan) {
            requireNoGrid();
            output.print(ShardingPrint.of(options.read()));
            output.flush();
            return ExitCode.DONE;
        }
        requireGrid();
        ParallelLayout layout = (data == null
                ? ParallelLayout.filling(world, pipeline, tensor)
                : new ParallelLayout(pipeline, data, tensor)).dividingExperts(expert);
        layout.requireFilledBy(world);
        if (world > MOST_RANKS) {
            throw new UsageException(String.format(Locale.ROOT,
                    "--world must be at most %,d to be listed here, but found %,d: take fewer", MOST_RANKS, world));
        }
        output.print(switch (format) {
            case table -> table(layout);
            case json -> json(layout);
        });
        output.flush();
        return ExitCode.DONE;
    }

    private void requireNoGrid() {
        if (world != null || pipeline != null || tensor != null || data != null || expert != 1
                || format != Format.table) {
            throw new UsageException(
                    "--plan prints the run of a configuration as text: leave the other options out, and"
                            + " set its axes by -s, such as -s parallel.tensor=2");
        }
    }

    private void requireGrid() {
        if (world == null || pipeline == null || tensor == null) {
            throw new UsageException(
                    "layout needs --world, --pipeline and --tensor to list groups, or --plan to print the"
                            + " sharding plan of a run");
        }
        if (options.config().isPresent() || !options.settings().isEmpty()) {
            throw new UsageException(
                    "a configuration is read with --plan alone: add it, or leave the configuration out");
        }
    }

    private static String table(ParallelLayout layout) {
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT,
                "%d ranks: pipeline %d x data %d x tensor %d; numbered tensor fastest, then data, then pipeline%n%n",
                layout.worldSize(), layout.pipeline(), layout.data(), layout.tensor()));
        for (GroupKind kind : kinds(layout)) {
            text.append(String.format(Locale.ROOT, "%-18s  %s%n", kind.word(), layout.groups(kind).stream()
                    .map(LayoutCommand::ranks).collect(Collectors.joining(" "))));
        }
        return text.toString();
    }

    /** Returns the kinds of groups; the kinds of experts only if ranks divide the experts. */
    private static List<GroupKind> kinds(ParallelLayout layout) {
        return Stream.of(GroupKind.values())
                .filter(kind -> layout.expert() > 1 || kind != GroupKind.EXPERT && kind != GroupKind.EXPERT_DATA)
                .toList();
    }

    private static String ranks(List<Integer> group) {
        return group.stream().map(String::valueOf).collect(Collectors.joining(",", "[", "]"));
    }

    private static String json(ParallelLayout layout) throws JsonProcessingException {
        ObjectNode root = JSON.createObjectNode().put("world", layout.worldSize()).put("pipeline", layout.pipeline())
                .put("data", layout.data()).put("tensor", layout.tensor());
        ObjectNode groups = root.putObject("groups");
        for (GroupKind kind : kinds(layout)) {
            ArrayNode ofKind = groups.putArray(kind.word());
            for (List<Integer> group : layout.groups(kind)) {
                group.forEach(ofKind.addArray()::add);
            }
        }
        return JSON.writeValueAsString(root) + "\n";
    }
}
