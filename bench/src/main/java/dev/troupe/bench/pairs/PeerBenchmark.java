package dev.troupe.bench.pairs;

import dev.troupe.bench.BenchmarkModel;
import dev.troupe.bench.MeasuredRun;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The ratio of Troupe's tokens per second to PyTorch's, on the same cores and at the same time. Prints the table of peers of
 * {@code bench/step/README.md}.
 */
@Command(name = "bench/step/compare-peers", mixinStandardHelpOptions = true, description = {
        "Trains the same models on the same text alternately with Troupe and with PyTorch, and prints the ratio of tokens"
                + " per second with its spread."})
public final class PeerBenchmark implements Callable<Integer> {
    /** Steps of the narrow model for one of the wide one, which takes some fifteen times as long. */
    private static final int NARROW_STEPS_FOR_A_WIDE_ONE = 5;

    /** How far losses of float32 may part in the few steps of a pair, from the same weights; measured: 1e-8 to 2e-5. */
    private static final double FLOAT32_TOLERANCE = 1e-3;
    /** The same in bfloat16, which the two sides do not use in the same places. */
    private static final double BFLOAT16_TOLERANCE = 2e-2;

    @Option(names = "--script", hidden = true)
    private Path script;

    @Option(names = "--tree", hidden = true, description = "The root of this checkout, for --jvms.")
    private Path tree = Path.of(".");

    @Option(names = "--libtorch", hidden = true, description = "A file with the class path of the peer in libtorch.")
    private Path libtorch;

    @Option(names = "--blas", paramLabel = "LIBRARY", description = {
            "The peer in libtorch multiplies float32 by this shared library in OpenBLAS's place."})
    private Path blas;

    @Option(names = "--seed", paramLabel = "N", description = {
            "Draws who goes first in each pair (default: ${DEFAULT-VALUE})."})
    private long seed = 1;

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
            "Trainings for a GPU: PyTorch has the model in one process, for any number of ranks of Troupe."})
    private boolean onGpu;

    @Option(names = "--compile", description = {
            "PyTorch compiles its model. Without the zero-bubble schedules, for which it takes no compiled one."})
    private boolean compiles;

    @Option(names = "--jvms", description = {
            "Troupe has a JVM for each rank, as troupe launch starts them. Only trainings on several ranks."})
    private boolean onJvms;

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
        List<PeerCase> trainings = (onGpu ? PeerCase.ON_A_GPU : PeerCase.ALL).stream().filter(this::isWanted).toList();
        if (list) {
            trainings.forEach(training -> output.println(training.name()));
            return 0;
        }
        Optional<String> version = libtorch == null
                ? PeerRun.torchVersion(python)
                : Optional.of("by its C++ interface");
        if (version.isEmpty()) {
            output.printf(Locale.ROOT, "The comparison with PyTorch is skipped: %s cannot import torch.%n", python);
            return 0;
        }
        Path scratch = Files.createTempDirectory("troupe-bench");
        try {
            Path tokens = Files.write(scratch.resolve("tokens.txt"), MeasuredRun.corpus());
            List<PeerPairs> measured = new ArrayList<>();
            for (PeerCase training : trainings) {
                measured.add(measure(training, tokens, Files.createTempDirectory(scratch, "weights")));
            }
            output.printf(Locale.ROOT, "PyTorch %s%n%n%s", version.get(), PeerPairs.table(measured));
        } finally {
            MeasuredRun.delete(scratch);
        }
        return 0;
    }

    private boolean isWanted(PeerCase training) {
        return only.stream().anyMatch(training.name()::contains)
                && !(onJvms && training.arrangement().ranks() == 1)
                && !(compiles && training.isZeroBubble())
                && !(libtorch != null && training.arrangement().virtualStages() > 1);
    }

    private List<String> command(Path weights) throws IOException {
        if (libtorch != null) {
            List<String> command = new ArrayList<>(
                    List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:+UseSerialGC",
                            "--enable-native-access=ALL-UNNAMED", "-Dorg.bytedeco.javacpp.maxBytes=0",
                            "-Dorg.bytedeco.javacpp.maxPhysicalBytes=0", "-cp", Files.readString(libtorch).strip(),
                            "dev.troupe.peer.Peer", "--weights", weights.toString()));
            if (blas != null) {
                command.addAll(List.of("--blas", blas.toString()));
            }
            return command;
        }
        List<String> command = new ArrayList<>(List.of(python, script.toString(), "--weights", weights.toString()));
        if (onGpu) {
            command.addAll(List.of("--device", "cuda"));
        }
        if (compiles) {
            command.add("--compile");
        }
        return command;
    }

    /**
     * What the C library and the libraries of products read when a process starts: one arena that gives nothing back, since
     * a step that maps its activations anew and anew is slower; and MKL's threads by the OpenMP that libtorch has loaded.
     */
    private static Map<String, String> environment(PeerCase training) {
        return Map.of("MALLOC_MMAP_THRESHOLD_", Long.toString(1L << 30), "MALLOC_TRIM_THRESHOLD_",
                Long.toString(1L << 36), "MALLOC_ARENA_MAX", "1", "OMP_NUM_THREADS",
                Integer.toString(training.threads()), "MKL_THREADING_LAYER", "GNU");
    }

    private PeerPairs measure(PeerCase training, Path tokens, Path directory) throws InterruptedException, IOException {
        int factor = training.model().equals(BenchmarkModel.NARROW) ? NARROW_STEPS_FOR_A_WIDE_ONE : 1;
        List<String> all = new ArrayList<>(training.settings());
        all.addAll(settings);
        all.add("engine.kind=" + engine);
        List<String> command = command(PeerWeights.write(training, all, directory));
        PeerPairs measured = new PeerPairs(training);
        Random order = new Random(seed);
        for (int pair = 0; pair < pairs; pair++) {
            Optional<PeerRun> before = order.nextBoolean()
                    ? Optional.of(peer(command, training, tokens, factor))
                    : Optional.empty();
            TimedSteps ours = troupe(training, all, tokens, factor);
            PeerRun theirs = before.isPresent() ? before.get() : peer(command, training, tokens, factor);
            measured.add(ours, theirs.steps());
            System.err.println(measured.latest() + (pair == 0 && !theirs.library().isEmpty()
                    ? "; the peer: " + theirs.library()
                    : ""));
        }
        measured.requireEqualLosses(training.precision().equals("float32") ? FLOAT32_TOLERANCE : BFLOAT16_TOLERANCE);
        return measured;
    }

    private TimedSteps troupe(PeerCase training, List<String> all, Path tokens, int factor)
            throws InterruptedException, IOException {
        if (!onJvms) {
            MeasuredRun run = MeasuredRun.of(training.model(), training.arrangement(), factor * warmupSteps,
                    factor * steps, all);
            return new TimedSteps(run.stepSeconds(), run.losses(), run.threads().totalSeconds());
        }
        List<String> complete = new ArrayList<>(training.completed(all));
        complete.add("data.path=" + tokens);
        complete.add("training.steps=" + factor * (warmupSteps + steps));
        return CommandRun.launched(tree, training.arrangement().ranks(), complete, factor * warmupSteps);
    }

    private PeerRun peer(List<String> command, PeerCase training, Path tokens, int factor)
            throws InterruptedException, IOException {
        return PeerRun.of(command, environment(training), training, tokens, factor * warmupSteps, factor * steps);
    }
}
