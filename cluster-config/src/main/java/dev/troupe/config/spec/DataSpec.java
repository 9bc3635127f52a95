package dev.troupe.config.spec;

import dev.troupe.config.problem.Word;
import dev.troupe.config.value.Range;
import dev.troupe.config.value.Texts;
import dev.troupe.config.value.Values;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The training data of a run: the section {@code data} of the defaults.
 *
 * @param paths absolute paths of files, folders and globs; none: the built-in corpus
 * @param tokenizer {@link #BYTES}, {@link #GPT2} or the absolute path of a directory with a {@code tokenizer.json}; ignored
 *     if the files hold tokens already
 * @param tokenBytes bytes of a token in {@code .bin} files, 2 or 4; 0: the number in their header
 * @param cache {@link #CACHE_OF_USER}, {@link #NO_CACHE} or an absolute path
 * @param validationFraction share of the corpus, at its end, for validation; 0: none, or validationPaths
 */
public record DataSpec(List<Path> paths, String tokenizer, boolean specialTokens, int tokenBytes, Documents documents,
        String cache, Order order, long seed, double validationFraction, List<Path> validationPaths) {
    /** The tokenizer with a token for each byte of the UTF-8 text. */
    public static final String BYTES = "bytes";
    /** GPT-2's own byte pair encoding. */
    public static final String GPT2 = "gpt2";
    /** The file that makes a directory a tokenizer. */
    public static final String TOKENIZER_FILE = "tokenizer.json";

    /** The cache in the user's home. */
    public static final String CACHE_OF_USER = "auto";
    /** No cache: text is tokenized at every start. */
    public static final String NO_CACHE = "none";

    private static final String TOKEN_FILE_SUFFIX = ".bin";
    /** The value of {@code data.path} for the corpus that comes with Troupe; an empty value means the same. */
    private static final String BUILT_IN = "built-in";
    private static final String AUTO = "auto";
    /** Files of a model for tokenizers that Troupe does not read. */
    private static final List<String> OTHER_TOKENIZERS = List.of("tokenizer.model", "merges.txt");

    public DataSpec {
        paths = List.copyOf(paths);
        validationPaths = List.copyOf(validationPaths);
        Objects.requireNonNull(cache, "cache");
        Objects.requireNonNull(tokenizer, "tokenizer");
        Objects.requireNonNull(order, "order");
        Objects.requireNonNull(documents, "documents");
    }

    /** The division of documents into rows: {@code data.pack} and {@code data.cut-long-text}. */
    public record Documents(boolean packs, boolean cutsLongText) {
    }

    /**
     * Reads the section {@code data}.
     *
     * @param model directory of the model to start from, or null
     */
    public static DataSpec read(Values values, Path model) {
        List<Path> paths = values.paths("data.path", Set.of("", BUILT_IN));
        if (paths.isEmpty()) {
            values.settle("data.path", BUILT_IN);
        }
        List<Path> validationPaths = values.paths("data.validation-path", Set.of(""));
        double fraction = validationFraction(values, paths, validationPaths);
        return new DataSpec(paths, tokenizer(values, nameTokenFiles(paths) ? null : model),
                values.flag("data.special-tokens"), tokenBytes(values),
                new Documents(values.flag("data.pack"), values.flag("data.cut-long-text")), cache(values),
                values.word("data.order", Order.class, ""), values.seed("data.seed"), fraction, validationPaths);
    }

    private static double validationFraction(Values values, List<Path> paths, List<Path> validationPaths) {
        String key = "data.validation-fraction";
        double fraction = values.decimal(key, Range.FRACTION);
        if (!validationPaths.isEmpty() && values.isGiven(key) && fraction > 0) {
            values.report(key, "0 together with data.validation-path, which names the validation data", "" + fraction,
                    "take one of them away");
        }
        // The default of the fraction is meant for the built-in corpus.
        if (!values.isGiven(key) && !(paths.isEmpty() && validationPaths.isEmpty())) {
            fraction = 0;
        }
        values.settle(key, fraction);
        return fraction;
    }

    /** Returns the tokenizer that is named; otherwise the one in the model's directory, if it has one. */
    private static String tokenizer(Values values, Path model) {
        String key = "data.tokenizer";
        String tokenizer = values.wordOrDirectory(key, List.of(BYTES, GPT2), TOKENIZER_FILE, AUTO).orElseGet(() -> {
            if (model == null || Files.isRegularFile(model.resolve(TOKENIZER_FILE))) {
                return model == null ? BYTES : model.toString();
            }
            OTHER_TOKENIZERS.stream().filter(file -> Files.isRegularFile(model.resolve(file))).findFirst()
                    .ifPresent(file -> values.report(key,
                            "a tokenizer with tokens that the model knows, since " + model + " has " + file + " and no "
                                    + TOKENIZER_FILE,
                            AUTO, "save it as " + TOKENIZER_FILE
                                    + ", or train on .bin files; bytes is for rows of ids"));
            return BYTES;
        });
        values.settle(key, tokenizer);
        return tokenizer;
    }

    private static int tokenBytes(Values values) {
        int bytes = values.integer("data.token-bytes", 0, Integer.BYTES);
        if (bytes % 2 != 0) {
            values.report("data.token-bytes", "0, 2 or 4", "0 takes the size from the header of a .bin file");
        }
        return bytes;
    }

    private static String cache(Values values) {
        Path folder = values.path("data.cache", Set.of("", CACHE_OF_USER, NO_CACHE));
        if (folder != null) {
            return folder.toString();
        }
        return values.sound("data.cache")
                ? values.text("data.cache", Texts.NOT_EMPTY, "auto, none or a folder")
                : CACHE_OF_USER;
    }

    /** Returns whether a name ends as the names of token files do, so that no tokenizer is needed. */
    public boolean namesTokenFiles() {
        return nameTokenFiles(paths);
    }

    private static boolean nameTokenFiles(List<Path> paths) {
        return paths.stream().anyMatch(path -> path.toString().toLowerCase(Locale.ROOT).endsWith(TOKEN_FILE_SUFFIX));
    }

    /** Returns the number of tokens of the tokenizer; empty if only its directory defines it. */
    public OptionalInt tokenizerVocabulary() {
        return switch (tokenizer) {
            case BYTES -> OptionalInt.of(256);
            case GPT2 -> OptionalInt.of(50257);
            default -> OptionalInt.empty();
        };
    }

    /** The orders in which sequences are taken from the corpus. */
    public enum Order implements Word {
        /** Windows that begin anywhere, drawn from the seed. */
        RANDOM("random"),
        /** Step k takes sequences i = 0 .. B-1 at offset (k B + i) S. */
        SEQUENTIAL("sequential"),
        /** The windows of sequential, each once in every epoch of the data, in an order drawn anew from the seed. */
        EPOCHS("epochs");

        private final String word;

        Order(String word) {
            this.word = word;
        }

        @Override
        public String word() {
            return word;
        }
    }
}
