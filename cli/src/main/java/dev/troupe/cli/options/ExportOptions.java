package dev.troupe.cli.options;

import dev.troupe.engine.DataType;
import dev.troupe.plan.UsageException;
import dev.troupe.weights.gguf.GgufType;
import dev.troupe.weights.huggingface.HuggingFaceWriter;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.Option;

/** The form in which a model is exported. */
public final class ExportOptions {
    private static final String HUGGING_FACE = "huggingface";
    private static final String GGUF = "gguf";
    private static final Pattern SIZE = Pattern.compile("(\\d+(?:\\.\\d+)?) ?([KMGT]i?)?B?");
    private static final Map<String, Long> UNITS = new TreeMap<>(Map.of("", 1L, "K", 1_000L, "M", 1_000_000L, "G",
            1_000_000_000L, "T", 1_000_000_000_000L, "Ki", 1L << 10, "Mi", 1L << 20, "Gi", 1L << 30, "Ti", 1L << 40));
    private static final Map<String, DataType> PRECISIONS = new TreeMap<>(
            Map.of("float32", DataType.FLOAT32, "bfloat16", DataType.BFLOAT16));

    @Option(names = "--format", paramLabel = "huggingface|gguf", defaultValue = HUGGING_FACE, description = {
            "huggingface (the default): a directory that transformers loads; gguf: one file model.gguf, which llama.cpp reads."})
    private String format;

    @Option(names = "--precision", paramLabel = "float32|bfloat16", description = {
            "The type of the weights in Hugging Face layout; bfloat16 is rounded to the nearest, ties to even. Default: as they were trained, float32 or float64."})
    private String precision;

    @Option(names = "--shard-size", paramLabel = "SIZE", description = {
            "The most bytes of weights in a file, such as 500MB or 2GiB; above it there are several files with an index. Default: 5GB."})
    private String shardSize;

    @Option(names = "--merge", description = {
            "Of a run that trained adapters, writes the whole model with the adapters merged into the weights that it began from; without it their directory is written as PEFT lays it out. A GGUF file is always of the whole model."})
    private boolean isMerged;

    @Option(names = "--type", paramLabel = "f32|f16|bf16|q8_0", description = {
            "The type of the matrices of a GGUF file; vectors are float32. Default: f16."})
    private String type;

    /** The form of an exported model. */
    public sealed interface Target {
        /**
         * A directory in Hugging Face layout.
         *
         * @param type the type of the weights; empty: as trained
         * @param shardBytes the most bytes of weights in a file
         * @param isMerged whether adapters are merged into their weights
         */
        record HuggingFace(Optional<DataType> type, long shardBytes, boolean isMerged) implements Target {
        }

        /** A GGUF file with matrices of a type. */
        record Gguf(GgufType type) implements Target {
        }
    }

    /**
     * Returns the form that the options name.
     *
     * @throws UsageException if a value is unknown, or an option is for the other form
     */
    public Target target() {
        return switch (format) {
            case HUGGING_FACE -> {
                refuse("--type", type, GGUF);
                yield new Target.HuggingFace(
                        Optional.ofNullable(precision).map(word -> known("--precision", word, PRECISIONS)),
                        shardSize == null ? HuggingFaceWriter.USUAL_SHARD_BYTES : shardBytes(), isMerged);
            }
            case GGUF -> {
                refuse("--precision", precision, HUGGING_FACE);
                refuse("--shard-size", shardSize, HUGGING_FACE);
                yield new Target.Gguf(type == null
                        ? GgufType.F16
                        : known("--type", type, Arrays.stream(GgufType.values())
                                .collect(Collectors.toMap(GgufType::word, one -> one, (one, _) -> one, TreeMap::new))));
            }
            default -> throw new UsageException(
                    "--format must be " + HUGGING_FACE + " or " + GGUF + ", but found \"" + format + "\"");
        };
    }

    /**
     * Checks that the checkpoint has the parts that the options ask for.
     *
     * @param hasAdapters whether it has adapters only, and not a whole model
     * @throws UsageException with the option that does not apply
     */
    public void requireFor(boolean hasAdapters) {
        if (isMerged && !hasAdapters) {
            throw new UsageException("--merge is for adapters, but the run trained the whole model: leave it out");
        }
        if (hasAdapters && !isMerged && (precision != null || shardSize != null)) {
            throw new UsageException((precision != null ? "--precision" : "--shard-size")
                    + " is for whole models, but the run trained adapters: add --merge");
        }
    }

    private static void refuse(String option, String value, String other) {
        if (value != null) {
            throw new UsageException(option + " is for --format " + other + ": leave one of them out");
        }
    }

    private static <T> T known(String option, String word, Map<String, T> values) {
        T value = values.get(word);
        if (value == null) {
            throw new UsageException(option + " must be one of " + String.join(", ", values.keySet())
                    + ", but found \"" + word + "\"");
        }
        return value;
    }

    private long shardBytes() {
        Matcher size = SIZE.matcher(shardSize);
        BigDecimal bytes = size.matches()
                ? new BigDecimal(size.group(1))
                        .multiply(BigDecimal.valueOf(UNITS.get(Optional.ofNullable(size.group(2)).orElse(""))))
                : BigDecimal.ZERO;
        if (bytes.compareTo(BigDecimal.ONE) < 0 || bytes.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) > 0) {
            throw new UsageException(String.format(Locale.ROOT,
                    "--shard-size must be a number of bytes above 0 such as 500MB or 2GiB, but found \"%s\"",
                    shardSize));
        }
        return bytes.longValue();
    }
}
