package dev.troupe.bench.observe;

import dev.troupe.bench.Arrangement;
import dev.troupe.bench.BenchmarkModel;
import dev.troupe.bench.MarkdownTable;
import dev.troupe.bench.MeasuredRun;
import dev.troupe.config.RunSpec;
import dev.troupe.config.RunSpecReader;
import dev.troupe.look.output.RunJournal;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.plan.prepare.RunRequest;
import dev.troupe.protocol.WarmUpReport;
import dev.troupe.run.TrainingRun;
import dev.troupe.run.TransportOf;
import dev.troupe.run.news.RunOutcome;
import dev.troupe.transport.Transport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The cost of a run's records of its steps and their bits. Prints the tables of {@code bench/observe/README.md}. */
@Command(name = "bench/observe/run", mixinStandardHelpOptions = true, description = {
        "Trains the narrow model on 4 ranks once. Every other block of steps is without its records. Prints the ratio of the times"
                + " of a step without and with records: the median over pairs of neighbouring blocks, with its 95 % interval by"
                + " bootstrap. Prints the same for processor time, which other work of the machine changes less."})
public final class RecordingBenchmark implements Callable<Integer> {
    @Option(names = "--only", paramLabel = "KIND", description = {
            "What is left out: ${COMPLETION-CANDIDATES}. May be repeated (default: all)."})
    private List<Recorded> only = List.of(Recorded.values());

    @Option(names = "--pairs", paramLabel = "N", description = "Pairs of blocks (default: ${DEFAULT-VALUE}).")
    private int pairs = 40;

    @Option(names = "--block", paramLabel = "N", description = {
            "Measured steps of a block; one step before them is not measured (default: ${DEFAULT-VALUE})."})
    private int blockSteps = 6;

    @Option(names = "--warmup", paramLabel = "N", description = "Steps before the first block (default: ${DEFAULT-VALUE}).")
    private int warmUpSteps = 600;

    @Option(names = "-s", paramLabel = "key=value", description = "As for troupe train. May be repeated.")
    private List<String> settings = List.of();

    /** Measures and exits. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new RecordingBenchmark()).setCaseInsensitiveEnumValuesAllowed(true)
                .execute(arguments));
    }

    @Override
    public Integer call() throws InterruptedException, IOException {
        AlternatingBlocks turns = new AlternatingBlocks(EnumSet.copyOf(only), warmUpSteps, blockSteps);
        train(turns);
        Set<Recorded.Method> unchanged = RecordingAgent.unchanged();
        if (!unchanged.isEmpty()) {
            throw new IllegalStateException(
                    "expected to switch off these methods, but found none of them: " + unchanged);
        }
        System.out.print(table(turns));
        return 0;
    }

    private void train(AlternatingBlocks turns) throws InterruptedException, IOException {
        List<String> all = new ArrayList<>(BenchmarkModel.NARROW.settings());
        all.addAll(new Arrangement(4, 1, "1f1b").settings());
        all.addAll(List.of("engine.kind=cpu", "engine.threads=1", "data.order=sequential",
                "training.steps=" + turns.steps(pairs)));
        all.addAll(settings);
        RunSpec spec = RunSpecReader.read(Optional.empty(), all);
        Path output = Files.createTempDirectory("troupe-bench");
        try {
            RunRequest request = new RunRequest(spec, MeasuredRun.corpus(), output.resolve("run"), Optional.empty(),
                    OptionalLong.empty());
            try (PreparedRun run = PreparedRun.of(request)) {
                WarmUpReport warmUp = TrainingRun.warmUp(run);
                try (Transport transport = TransportOf.run(run);
                        RunJournal journal = RunJournal.begin(run, List.of(_ -> turns), System.err::println)) {
                    RunOutcome outcome = TrainingRun.start(run, journal.directory(), transport, warmUp, journal)
                            .await();
                    outcome.failure().ifPresent(reason -> {
                        throw new IllegalStateException(reason);
                    });
                }
            }
        } finally {
            MeasuredRun.delete(output);
        }
    }

    private String table(AlternatingBlocks turns) {
        MarkdownTable ratios = new MarkdownTable("without over with: " + only, "median", "95 %", "pairs");
        add(ratios, "time of a step", turns.ratios(AlternatingBlocks.Block::medianSeconds));
        add(ratios, "processor time of the process", turns.ratios(AlternatingBlocks.Block::cpuSeconds));
        Map<String, Double> with = turns.cpuMillis(true);
        Map<String, Double> without = turns.cpuMillis(false);
        MarkdownTable threads = new MarkdownTable("processor ms of a step", "with", "without", "difference");
        with.forEach((kind, millis) -> threads.row(kind, format("%.2f", millis),
                format("%.2f", without.getOrDefault(kind, 0.0)),
                format("%.2f", millis - without.getOrDefault(kind, 0.0))));
        return format("%n%s%nA step takes %.1f ms with, %.1f ms without.%n%n%s", ratios,
                1e3 * turns.medianSeconds(true), 1e3 * turns.medianSeconds(false), threads);
    }

    private static void add(MarkdownTable table, String what, List<Double> ratios) {
        BootstrapMedian median = BootstrapMedian.of(ratios);
        table.row(what, format("**%.4f**", median.median()), format("%.4f to %.4f", median.low(), median.high()),
                format("%d", ratios.size()));
    }

    private static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }
}
