package dev.troupe.bench.pairs;

import dev.troupe.bench.BenchmarkModel;
import dev.troupe.bench.MeasuredRun;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * What is the ratio of Troupe's tokens per second to PyTorch's, on the same cores and at the same time? Prints the
 * table of peers of {@code bench/step/README.md}.
 */
@Command(name = "bench/step/compare-peers", mixinStandardHelpOptions = true, description = {
        "Trains the same models on the same text with Troupe and with PyTorch, in turns, and prints the ratio of tokens"
                + " per second with its spread."})
public final class PeerBenchmark implements Callable<Integer> {
    /** Steps of the narrow model for one of the wide one, which takes some fifteen times as long. */
    private static final int NARROW_STEPS_FOR_A_WIDE_ONE = 5;

    @Option(names = "--script", required = true, hidden = true)
    private Path script;

    @Option(names = "--python", paramLabel = "COMMAND", description = "A Python with PyTorch (default: ${DEFAULT-VALUE}).")
    private String python = "python3";

    @Option(names = "--only", paramLabel = "WORD", description = {
            "Only the trainings with this in their name, such as narrow, wide-2 or bfloat16. May be repeated.",
            "--list names them all."})
    private List<String> only = List.of("");

    @Option(names = "--list", description = "Names the trainings and does none.")
    private boolean list;

    @Option(names = "--pairs", paramLabel = "N", description = {
            "Runs of each training by both (default: ${DEFAULT-VALUE})."})
    private int pairs = 5;

    @Option(names = "--steps", paramLabel = "N", description = {
            "Steps that count in each run of the wide model; five times as many of the narrow one (default: ${DEFAULT-VALUE})."})
    private int steps = 3;

    @Option(names = "--warmup", paramLabel = "N", description = {
            "Steps before them that do not; five times as many of the narrow one (default: ${DEFAULT-VALUE})."})
    private int warmupSteps = 2;

    @Option(names = "--engine", paramLabel = "KIND", description = {
            "The engine that Troupe computes on (default: ${DEFAULT-VALUE})."})
    private String engine = "cpu";

    @Option(names = "--gpu", description = {
            "Trainings for a GPU, where PyTorch has the model in one process, whatever number of ranks Troupe has."})
    private boolean onGpu;

    @Option(names = "--compile", description = "PyTorch compiles its model.")
    private boolean compiles;

    @Option(names = "-s", paramLabel = "key=value", description = "As for troupe train. May be repeated.")
    private List<String> settings = List.of();

    private final PrintStream output;

    /** Prints to the standard output. */
    public PeerBenchmark() {
        this(System.out);
    }

    PeerBenchmark(PrintStream output) {
        this.output = output;
    }

    /** Compares and exits. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new PeerBenchmark()).execute(arguments));
    }

    @Override
    public Integer call() throws InterruptedException, IOException {
        List<PeerCase> trainings = (onGpu ? PeerCase.ON_A_GPU : PeerCase.ALL).stream()
                .filter(training -> only.stream().anyMatch(training.name()::contains)).toList();
        if (list) {
            trainings.forEach(training -> output.println(training.name()));
            return 0;
        }
        Optional<String> version = PeerRun.torchVersion(python);
        if (version.isEmpty()) {
            output.printf("The comparison with PyTorch is skipped: %s cannot import torch.%n", python);
            return 0;
        }
        Path tokens = Files.createTempFile("troupe-bench", ".tokens");
        try {
            Files.write(tokens, MeasuredRun.corpus());
            List<PeerPairs> measured = new ArrayList<>();
            for (PeerCase training : trainings) {
                measured.add(measure(training, tokens));
            }
            output.printf("PyTorch %s%n%n%s", version.get(), PeerPairs.table(measured));
        } finally {
            Files.delete(tokens);
        }
        return 0;
    }

    private List<String> command() {
        List<String> command = new ArrayList<>(List.of(python, script.toString()));
        if (onGpu) {
            command.addAll(List.of("--device", "cuda"));
        }
        if (compiles) {
            command.add("--compile");
        }
        return command;
    }

    private PeerPairs measure(PeerCase training, Path tokens) throws InterruptedException, IOException {
        int factor = training.model().equals(BenchmarkModel.NARROW) ? NARROW_STEPS_FOR_A_WIDE_ONE : 1;
        List<String> all = new ArrayList<>(training.settings());
        all.addAll(settings);
        all.add("engine.kind=" + engine);
        PeerPairs measured = new PeerPairs(training);
        for (int pair = 0; pair < pairs; pair++) {
            MeasuredRun ours = MeasuredRun.of(training.model(), training.arrangement(), factor * warmupSteps,
                    factor * steps, all);
            PeerRun theirs = PeerRun.of(command(), training, tokens, factor * warmupSteps,
                    factor * steps);
            measured.add(ours, theirs);
            System.err.println(measured.latest());
        }
        return measured;
    }
}
