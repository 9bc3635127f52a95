package dev.troupe.config.spec;

import dev.troupe.config.problem.Word;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * The training data of a run.
 *
 * @param paths absolute paths of UTF-8 text files, of {@code .bin} files of little-endian tokens, or of {@code .jsonl}
 *     and {@code .parquet} files of documents, of folders of these, and globs; none: the built-in corpus
 * @param tokenizer how text becomes tokens: {@link #BYTES}, {@link #GPT2} or the absolute path of a directory with a
 *     {@code tokenizer.json}; ignored where the files hold tokens already
 * @param specialTokens whether each text gets the special tokens that the tokenizer's post-processor adds
 * @param tokenBytes bytes of a token in {@code .bin} files, 2 or 4; 0: as their header says
 * @param packs whether a row of files of documents takes several where they fit and the model can separate them
 * @param cutsLongText whether a text of a file of documents that is longer than a sequence is cut
 * @param cache folder for the tokens of texts: {@link #CACHE_OF_USER}, {@link #NO_CACHE} or an absolute path
 * @param order how sequences are taken from the corpus
 * @param seed seed of the random order and of that of epochs
 * @param validationFraction share of the corpus, at its end, for validation, at least 0 and below 1; 0: none, or
 *     validationPaths
 * @param validationPaths another corpus, for validation, written as the first; none: a share of the first
 */
public record DataSpec(List<Path> paths, String tokenizer, boolean specialTokens, int tokenBytes, boolean packs,
        boolean cutsLongText, String cache,
        Order order, long seed, double validationFraction, List<Path> validationPaths) {
    /** The tokenizer of which every byte of the UTF-8 text is a token. */
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

    /** Refuses a missing part. */
    public DataSpec {
        paths = List.copyOf(paths);
        validationPaths = List.copyOf(validationPaths);
        Objects.requireNonNull(cache, "cache");
        Objects.requireNonNull(tokenizer, "tokenizer");
        Objects.requireNonNull(order, "order");
    }

    /** Returns the same data with no part for validation. */
    public DataSpec withoutValidation() {
        return new DataSpec(paths, tokenizer, specialTokens, tokenBytes, packs, cutsLongText, cache, order, seed, 0,
                List.of());
    }

    /**
     * Returns whether the names end as those of token files do, so that no tokenizer is needed; a folder's name does
     * not tell.
     */
    public boolean namesTokenFiles() {
        return nameTokenFiles(paths);
    }

    /** Returns whether one of these names ends as those of token files do. */
    public static boolean nameTokenFiles(List<Path> paths) {
        return paths.stream().anyMatch(path -> path.toString().toLowerCase(Locale.ROOT).endsWith(TOKEN_FILE_SUFFIX));
    }

    /** Returns how many different tokens the tokenizer has; empty where only its directory says it. */
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
