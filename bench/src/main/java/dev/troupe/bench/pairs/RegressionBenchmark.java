package dev.troupe.bench.pairs;

import dev.troupe.bench.BenchmarkModel;
import dev.troupe.bench.MarkdownTable;
import dev.troupe.bench.MeasuredRun;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The time of a training step against another commit. Either side trains by its own {@code ./troupe train}, alternately, so
 * that other work of the machine affects both.
 */
@Command(name = "bench/regress", mixinStandardHelpOptions = true, description = {
        "Trains the same models alternately with this tree and with the tree of a commit, and prints how many times the tokens"
                + " per second of the commit this tree reaches: the median over pairs, with its range. Which side of a pair"
                + " goes first alternates.",
        "Ends with exit code 1 if a median is below --least."})
public final class RegressionBenchmark implements Callable<Integer> {
    private static final int NARROW_STEPS_FOR_A_WIDE_ONE = 5;
    private static final int SLOWER = 1;

    @Option(names = "--here", required = true, hidden = true)
    private Path here;

    @Parameters(paramLabel = "COMMIT", description = {
            "The tree to compare with; bench/regress passes the place of its checkout."})
    private Path there;

    @Option(names = "--only", paramLabel = "WORD", description = {
            "Only the trainings with this in their name, such as narrow, wide-2 or bfloat16. May be repeated"
                    + " (default: ${DEFAULT-VALUE})."}, defaultValue = "float32")
    private List<String> only;

    @Option(names = "--pairs", paramLabel = "N", description = "Runs of each training by both (default: ${DEFAULT-VALUE}).")
    private int pairs = 5;

    @Option(names = "--steps", paramLabel = "N", description = {
            "Steps that count in each run of the wide model; five times as many of the narrow one (default: ${DEFAULT-VALUE})."})
    private int steps = 4;

    @Option(names = "--warmup", paramLabel = "N", description = {
            "Steps before them that do not; five times as many of the narrow one (default: ${DEFAULT-VALUE})."})
    private int warmupSteps = 2;

    @Option(names = "--least", paramLabel = "RATIO", description = {
            "The least median that is taken for no slower (default: ${DEFAULT-VALUE})."})
    private double least = 0.97;

    @Option(names = "-s", paramLabel = "key=value", description = "As for troupe train, for both. May be repeated.")
    private List<String> settings = List.of();

    @Option(names = "--ours", paramLabel = "key=value", description = {
            "As for troupe train, for this tree alone; with this tree as COMMIT too, the two differ in it only. May be"
                    + " repeated."})
    private List<String> ours = List.of();

    private final PrintStream output;

    /** Prints to the standard output. */
    public RegressionBenchmark() {
        this(System.out);
    }

    RegressionBenchmark(PrintStream output) {
        this.output = output;
    }

    /** Compares and exits. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new RegressionBenchmark()).execute(arguments));
    }

    @Override
    public Integer call() throws InterruptedException, IOException {
        Path text = Files.createTempFile("troupe-bench", ".txt");
        try {
            Files.write(text, MeasuredRun.corpus());
            MarkdownTable table = new MarkdownTable("training", "this tree, tokens/s", "the commit, tokens/s",
                    "ratio, median", "least to greatest", "pairs", "the same losses");
            boolean isSlower = false;
            for (PeerCase training : PeerCase.ALL.stream()
                    .filter(training -> only.stream().anyMatch(training.name()::contains)).toList()) {
                CommitPairs measured = measure(training, text);
                table.row(measured.row());
                isSlower |= measured.medianRatio() < least;
            }
            output.print(table);
            return isSlower ? SLOWER : 0;
        } finally {
            Files.delete(text);
        }
    }

    private CommitPairs measure(PeerCase training, Path text) throws InterruptedException, IOException {
        int factor = training.model().equals(BenchmarkModel.WIDE) ? 1 : NARROW_STEPS_FOR_A_WIDE_ONE;
        List<String> all = new ArrayList<>(training.completed(training.settings()));
        all.add("data.path=" + text);
        all.add("training.steps=" + factor * (warmupSteps + steps));
        all.addAll(settings);
        List<String> forUs = new ArrayList<>(all);
        forUs.addAll(ours);
        CommitPairs measured = new CommitPairs(training);
        for (int pair = 0; pair < pairs; pair++) {
            boolean isOursFirst = pair % 2 == 0;
            TimedSteps first = CommandRun.of(isOursFirst ? here : there, isOursFirst ? forUs : all,
                    factor * warmupSteps);
            TimedSteps second = CommandRun.of(isOursFirst ? there : here, isOursFirst ? all : forUs,
                    factor * warmupSteps);
            measured.add(isOursFirst ? first : second, isOursFirst ? second : first);
            System.err.println(String.format(Locale.ROOT, "%s, pair %d: %.3f", training, pair + 1,
                    measured.latestRatio()));
        }
        return measured;
    }
}
