package dev.troupe.config;

import dev.troupe.config.fault.FaultSpec;
import dev.troupe.config.problem.ConfigException;
import dev.troupe.config.problem.Problem;
import dev.troupe.config.spec.DataSpec;
import dev.troupe.config.spec.EmulatedSpec;
import dev.troupe.config.spec.EngineSpec;
import dev.troupe.config.spec.LossScaleSpec;
import dev.troupe.config.spec.ModelSection;
import dev.troupe.config.spec.ObserveSpec;
import dev.troupe.config.spec.ParallelSpec;
import dev.troupe.config.spec.RecoverySpec;
import dev.troupe.config.spec.TrainingSpec;
import dev.troupe.config.spec.TransportSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;

/** Reads a run: settings over a file over the defaults, checked as a whole. */
public final class RunSpecReader {
    /** The value of {@code data.path} for the corpus that comes with Troupe; an empty value means the same. */
    static final String BUILT_IN = "built-in";
    /** The files of tokenizers that are not read, beside a model. */
    private static final List<String> OTHER_TOKENIZERS = List.of("tokenizer.model", "merges.txt");
    private static final String AUTO = "auto";

    private static final int MAX = Integer.MAX_VALUE;
    private static final int MOST_SAMPLE_TOKENS = 4096;
    private static final int MOST_RECOVERIES = 1000;
    // The number of ranks that the transport's frames can tell apart.
    static final int MOST_RANKS_IN_ALL = 65536;
    /** The most blocks of a model: with embedding and head, the number of layers is the greatest number of stages. */
    public static final int MOST_LAYERS = MOST_RANKS_IN_ALL - 2;
    private static final int MOST_ZERO = 3;
    // The plan of a validation pass is made and checked as a whole, like that of a step.
    private static final int MOST_VALIDATION_MICROBATCHES = 65536;
    private static final int MOST_CREDITS = 1024;
    private static final int MOST_PORT = 65535;
    static final int MOST_THREADS = 1024;
    private static final int SHORTEST_TERM_BYTES = 1 << 20;
    private static final int LONGEST_TERM_BYTES = 1 << 30;
    private static final String HEAD_SIZE = "head-size";
    static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");
    static final Pattern NAME_OR_NONE = Pattern.compile("|" + NAME.pattern());
    static final String NAME_EXPECTED = "at most 64 letters, digits, '.', '_' and '-', the first a letter or digit";
    private static final Pattern DEVICE = Pattern.compile(EngineSpec.ROUND_ROBIN + "|\\d{1,4}");
    static final Set<String> FLOAT64_ENGINES = Set.of(EngineSpec.AUTO, "nd4j", "reference");
    private static final Pattern LOSS_SCALE = Pattern
            .compile("none|dynamic|(?=[^eE]*[1-9])(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d{1,2})?");
    static final Pattern NOT_EMPTY = Pattern.compile("(?s).*\\S.*");

    private final Values values;

    private RunSpecReader(Values values) {
        this.values = values;
    }

    /**
     * Reads a run.
     *
     * @param file a HOCON file with everything under {@code troupe}; empty: defaults and settings only
     * @param settings {@code key=value}, without {@code troupe.}; they win over the file, and the last of one key over
     *     the others
     * @return the run, with relative paths made absolute from the working directory
     * @throws ConfigException if any value is wrong, with a problem for each; a caller shows the message and starts
     *     nothing
     */
    public static RunSpec read(Optional<Path> file, List<String> settings) {
        List<Problem> problems = new ArrayList<>();
        Sources sources = Sources.read(file, settings, problems);
        return new RunSpecReader(new Values(sources, problems)).read(problems);
    }

    /** Returns the values of each key that accepts only a few. */
    static Map<String, List<String>> choices() {
        List<Problem> problems = new ArrayList<>();
        Values values = new Values(Sources.read(Optional.empty(), List.of(), problems), problems);
        new RunSpecReader(values).read(problems);
        return values.choices();
    }

    private RunSpec read(List<Problem> problems) {
        String name = values.text("name", NAME, NAME_EXPECTED);
        Path from = values.path("model.from", Set.of(""));
        DataSpec data = data(from);
        ModelSection model = model(from, data);
        EngineSpec engine = engine();
        TrainingSpec training = training(engine);
        ParallelSpec parallel = ParallelReader.read(values);
        TransportSpec transport = transport();
        RecoverySpec recovery = recovery();
        ObserveSpec observe = new ObserveSpec(values.integer("observe.port", 0, MOST_PORT),
                values.flag("observe.tensorboard"), values.integer("observe.sample-tokens", 0, MOST_SAMPLE_TOKENS));
        checkBatch(training, parallel);
        checkTensor(model, parallel);
        ClusterReader cluster = new ClusterReader(values, engine);
        cluster.check(transport);
        cluster.check(parallel, training.precision());
        List<FaultSpec> faults = values.each("faults",
                "a list of faults, such as [\"exception stage=2 step=5\"]",
                FaultSpec::parse);
        if (!problems.isEmpty()) {
            throw new ConfigException(problems);
        }
        return new RunSpec(name, model, data, training, parallel, engine, transport, recovery,
                observe, cluster.spec(name, parallel), faults);
    }

    private DataSpec data(Path model) {
        List<Path> paths = values.paths("data.path", Set.of("", BUILT_IN));
        List<Path> validationPaths = values.paths("data.validation-path", Set.of(""));
        double validationFraction = values.decimal("data.validation-fraction", Range.FRACTION);
        boolean isGiven = values.isGiven("data.validation-fraction");
        if (!validationPaths.isEmpty() && isGiven && validationFraction > 0) {
            values.report("data.validation-fraction",
                    "0 together with data.validation-path, which names the validation data",
                    "" + validationFraction, "take one of them away");
        }
        // The default of the fraction is meant for the built-in corpus.
        boolean isWhole = !isGiven && !(paths.isEmpty() && validationPaths.isEmpty());
        boolean areTokens = DataSpec.nameTokenFiles(paths);
        return new DataSpec(paths, tokenizer(areTokens ? null : model), values.flag("data.special-tokens"),
                tokenBytes(), values.flag("data.pack"), values.flag("data.cut-long-text"), cache(),
                values.word("data.order", DataSpec.Order.class, ""), values.seed("data.seed"),
                isWhole ? 0 : validationFraction, validationPaths);
    }

    /** The tokenizer that is named; else that of the model's directory, where it has one. */
    private String tokenizer(Path model) {
        Optional<String> named = values.wordOrDirectory("data.tokenizer", List.of(DataSpec.BYTES, DataSpec.GPT2),
                DataSpec.TOKENIZER_FILE, AUTO);
        if (named.isPresent()) {
            return named.get();
        }
        if (model == null || Files.isRegularFile(model.resolve(DataSpec.TOKENIZER_FILE))) {
            return model == null ? DataSpec.BYTES : model.toString();
        }
        OTHER_TOKENIZERS.stream().filter(file -> Files.isRegularFile(model.resolve(file))).findFirst()
                .ifPresent(file -> values.report("data.tokenizer",
                        "a tokenizer whose tokens the model knows, since " + model + " has " + file + " and no "
                                + DataSpec.TOKENIZER_FILE,
                        AUTO, "save it as " + DataSpec.TOKENIZER_FILE
                                + ", or train on .bin files; bytes is for rows of ids"));
        return DataSpec.BYTES;
    }

    private int tokenBytes() {
        int bytes = values.integer("data.token-bytes", 0, Integer.BYTES);
        if (bytes % 2 != 0) {
            values.report("data.token-bytes", "0, 2 or 4", "0 takes the size from the header of a .bin file");
        }
        return bytes;
    }

    private String cache() {
        Path folder = values.path("data.cache", Set.of("", DataSpec.CACHE_OF_USER, DataSpec.NO_CACHE));
        if (folder != null) {
            return folder.toString();
        }
        return values.sound("data.cache")
                ? values.text("data.cache", NOT_EMPTY, "auto, none or a folder")
                : DataSpec.CACHE_OF_USER;
    }

    private ModelSection model(Path from, DataSpec data) {
        String family = values.text("model.family", NAME, NAME_EXPECTED);
        int layers = values.integer("model.layers", 1, MOST_LAYERS);
        int hidden = values.integer("model.hidden", 1, MAX);
        int heads = values.integer("model.heads", 1, MAX);
        int sequenceLength = values.integer("model.sequence-length", 1, MAX);
        int vocabularySize = values.integer("model.vocabulary-size", 0, MAX);
        boolean tieEmbeddings = values.flag("model.tie-embeddings");
        Map<String, Number> more = moreOfModel();
        checkHeads(hidden, heads, from != null || more.containsKey(HEAD_SIZE));
        if (from != null) {
            return new ModelSection.FromDirectory(
                    values.isGiven("model.family") ? Optional.of(family) : Optional.empty(), from,
                    ifGiven("model.layers", layers),
                    ifGiven("model.hidden", hidden),
                    ifGiven("model.heads", heads), ifGiven("model.sequence-length", sequenceLength),
                    vocabularySize == 0 ? OptionalInt.empty() : OptionalInt.of(vocabularySize),
                    values.isGiven("model.tie-embeddings") ? Optional.of(tieEmbeddings) : Optional.empty(), more);
        }
        return new ModelSection.Described(family, layers, hidden, heads, sequenceLength,
                vocabularySize(vocabularySize, data),
                tieEmbeddings, more);
    }

    /** A key of some families only; 0 stands for the family's own number. */
    private Map<String, Number> moreOfModel() {
        Map<String, Number> more = new LinkedHashMap<>();
        for (String key : List.of("key-value-heads", HEAD_SIZE, "inner")) {
            int number = values.integer("model." + key, 0, MAX);
            if (number != 0) {
                more.put(key, number);
            }
        }
        for (String key : List.of("norm-epsilon", "rotary-base")) {
            double number = values.decimal("model." + key, Range.NOT_NEGATIVE);
            if (number != 0) {
                more.put(key, number);
            }
        }
        return more;
    }

    private OptionalInt ifGiven(String key, int value) {
        return values.isGiven(key) ? OptionalInt.of(value) : OptionalInt.empty();
    }

    private void checkHeads(int hidden, int heads, boolean isLoaded) {
        boolean isComplete = !isLoaded || values.isGiven("model.hidden") && values.isGiven("model.heads");
        if (isComplete && values.sound("model.hidden", "model.heads") && hidden % heads != 0) {
            values.report("model.heads", "a number that divides model.hidden = " + hidden,
                    "a remainder of " + hidden % heads + " with " + heads + " heads", "change one of them");
        }
    }

    private int vocabularySize(int size, DataSpec data) {
        if (!values.sound("model.vocabulary-size", "data.path", "data.tokenizer", "model.from")) {
            return size;
        }
        if (data.namesTokenFiles()) {
            if (size == 0) {
                values.report("model.vocabulary-size", "the number of token ids, which a .bin file does not contain",
                        "0",
                        "set it, or model.from");
            }
            return size;
        }
        OptionalInt known = data.tokenizerVocabulary();
        if (known.isEmpty()) {
            return size;
        }
        int least = known.getAsInt();
        if (size != 0 && size < least) {
            values.report("model.vocabulary-size",
                    "at least the " + least + " tokens of data.tokenizer = " + data.tokenizer(), "" + size,
                    "set it to 0 to take the tokenizer's");
        }
        return size == 0 ? least : size;
    }

    private EngineSpec engine() {
        return new EngineSpec(values.text("engine.kind", NOT_EMPTY, "auto or the name of an engine"),
                values.integer("engine.threads", 0, MOST_THREADS), device(values, "engine.device"),
                values.text("engine.products", NOT_EMPTY, "auto, onednn, openblas, own, cublaslt or a path"),
                new EmulatedSpec(emulated("forward"), emulated("backward-input"), emulated("backward-weight"),
                        emulated("recompute"), emulated("update"),
                        values.decimal("engine.emulated.device-flops", Range.NOT_NEGATIVE)));
    }

    static OptionalInt device(Values values, String key) {
        String text = values.text(key, DEVICE, EngineSpec.ROUND_ROBIN + " or the number of a device, from 0");
        return text.equals(EngineSpec.ROUND_ROBIN) ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(text));
    }

    private List<Duration> emulated(String work) {
        return values.durations("engine.emulated." + work, Duration.ZERO, Duration.ofHours(1));
    }

    private TrainingSpec training(EngineSpec engine) {
        int steps = values.integer("training.steps", 1, MAX);
        TrainingSpec.Precision precision = values.word("training.precision", TrainingSpec.Precision.class,
                "bfloat16 is for activations and products with float32 weights, float64 for the engines nd4j and reference");
        if (precision == TrainingSpec.Precision.FLOAT64 && values.sound("engine.kind")
                && !FLOAT64_ENGINES.contains(engine.kind())) {
            values.report("training.precision", "float32 with engine.kind = " + engine.kind(), "float64",
                    "set engine.kind to nd4j or reference, which compute in float64, or the precision to float32");
        }
        TrainingSpec.Recompute recompute = values.word("training.recompute", TrainingSpec.Recompute.class, "");
        return new TrainingSpec(steps, values.integer("training.global-batch-size", 1, MAX),
                values.integer("training.microbatch-size", 1, MAX), values.seed("training.seed"), precision,
                LossScaleSpec.of(values.text("training.loss-scale", LOSS_SCALE, "none, dynamic or a number above 0")),
                values.decimal("training.gradient-clip", Range.NOT_NEGATIVE),
                values.integer("training.checkpoint-every", 0, MAX),
                values.duration("training.checkpoint-interval", Duration.ZERO, Duration.ofDays(365)),
                values.integer("training.keep-checkpoints", 0, MAX), values.integer("training.validate-every", 0, MAX),
                values.integer("training.validation-microbatches", 1, MOST_VALIDATION_MICROBATCHES),
                values.integer("training.zero", 0, MOST_ZERO), gradientExchange(precision), recompute,
                ReplayReader.read(values, recompute),
                values.decimal("training.dropout", Range.FRACTION), LoraReader.read(values),
                OptimizerReader.read(values), LearningRateReader.read(values, steps));
    }

    private TrainingSpec.GradientExchange gradientExchange(TrainingSpec.Precision precision) {
        String key = "training.gradient-exchange";
        TrainingSpec.GradientExchange exchange = values.word(key, TrainingSpec.GradientExchange.class, "");
        if (exchange == TrainingSpec.GradientExchange.BFLOAT16 && values.sound("parallel.data")) {
            boolean isAlone = values.integer("parallel.data", 1, ParallelReader.MOST_RANKS) == 1;
            if (isAlone || precision == TrainingSpec.Precision.FLOAT64) {
                values.report(key, "float32 with " + (isAlone ? "parallel.data = 1" : "training.precision = float64"),
                        "bfloat16", isAlone ? "no gradients travel, so set parallel.data too" : "they travel whole");
            }
        }
        return exchange;
    }

    /**
     * T must divide the heads, the hidden size where it is heads of one width, and the sequence where it is divided too.
     * The vocabulary may divide unevenly.
     */
    private void checkTensor(ModelSection model, ParallelSpec parallel) {
        if (!values.sound("parallel.tensor", "model.from")) {
            return;
        }
        boolean isDescribed = model instanceof ModelSection.Described;
        for (String key : List.of("model.heads", "model.hidden")) {
            boolean isOfHeads = key.equals("model.heads") || values.integer("model." + HEAD_SIZE, 0, MAX) == 0;
            if (isOfHeads && (isDescribed || values.isGiven(key))) {
                checkMultiple(key, parallel.tensor());
            }
        }
        if (!parallel.sequence()) {
            return;
        }
        if (parallel.tensor() == 1) {
            values.report("parallel.sequence", "false with parallel.tensor = 1", "true",
                    "slices of the sequence are shared out among the ranks of a tensor group, so set parallel.tensor too");
        } else if (isDescribed || values.isGiven("model.sequence-length")) {
            checkMultiple("model.sequence-length", parallel.tensor());
        }
    }

    private void checkMultiple(String key, int tensor) {
        if (values.sound(key) && values.integer(key, 1, MAX) % tensor != 0) {
            values.report(key, "a multiple of parallel.tensor = " + tensor, "change one of them");
        }
    }

    private RecoverySpec recovery() {
        return new RecoverySpec(values.flag("recovery.enabled"),
                values.integer("recovery.most-per-step", 1, MOST_RECOVERIES),
                values.duration("recovery.hang-timeout", Duration.ofMillis(100), Duration.ofHours(24)),
                values.flag("recovery.warm-standby"));
    }

    private TransportSpec transport() {
        return new TransportSpec(values.integer("transport.credits", 1, MOST_CREDITS),
                values.powerOfTwoBytes("transport.term-length", SHORTEST_TERM_BYTES, LONGEST_TERM_BYTES),
                values.duration("transport.timeout", Duration.ofMillis(100), Duration.ofHours(24)),
                values.word("transport.network", TransportSpec.Network.class, ""),
                Optional.ofNullable(values.path("transport.directory", Set.of(""))));
    }

    private void checkBatch(TrainingSpec training, ParallelSpec parallel) {
        if (!values.sound("training.global-batch-size", "training.microbatch-size", "parallel.data")) {
            return;
        }
        long divisor = (long) parallel.data() * training.microbatchSize();
        if (training.globalBatchSize() % divisor != 0) {
            values.report("training.global-batch-size",
                    "a multiple of parallel.data x training.microbatch-size = " + parallel.data() + " x "
                            + training.microbatchSize() + " = " + divisor,
                    "" + training.globalBatchSize(), "the nearest that fit are " + neighbours(training, divisor));
        }
    }

    private static String neighbours(TrainingSpec training, long divisor) {
        long below = training.globalBatchSize() / divisor * divisor;
        return below == 0 ? "" + divisor + " and " + 2 * divisor : below + " and " + (below + divisor);
    }
}
