package dev.troupe.config.spec;

import dev.troupe.config.problem.Word;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * The training data of a run.
 *
 * @param paths
 *            absolute paths of UTF-8 text files, or of {@code .bin} files of little-endian uint16 tokens, of folders of
 *            either, and globs; none: the built-in corpus
 * @param tokenizer
 *            how text becomes tokens; ignored where the files hold tokens already
 * @param cache
 *            folder for the tokens of texts: {@link #CACHE_OF_USER}, {@link #NO_CACHE} or an absolute path
 * @param order
 *            how sequences are taken from the corpus
 * @param seed
 *            seed of the random order and of that of epochs
 * @param validationFraction
 *            share of the corpus, at its end, for validation, at least 0 and below 1; 0: none, or validationPaths
 * @param validationPaths
 *            another corpus, for validation, written as the first; none: a share of the first
 */
public record DataSpec(List<Path> paths, Tokenizer tokenizer, String cache, Order order, long seed,
        double validationFraction, List<Path> validationPaths) {
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

    /**
     * Returns whether the names end as those of token files do, so that no tokenizer is needed; a folder's name does
     * not tell.
     */
    public boolean namesTokenFiles() {
        return paths.stream().anyMatch(path -> path.toString().endsWith(TOKEN_FILE_SUFFIX));
    }

    /** The tokenizers of text. */
    public enum Tokenizer implements Word {
        /** Every byte of the UTF-8 text is a token. */
        BYTES("bytes", 256),
        /** GPT-2's own byte pair encoding. */
        GPT2("gpt2", 50257);

        private final String word;
        private final int vocabularySize;

        Tokenizer(String word, int vocabularySize) {
            this.word = word;
            this.vocabularySize = vocabularySize;
        }

        @Override
        public String word() {
            return word;
        }

        /** Returns how many different tokens there are. */
        public int vocabularySize() {
            return vocabularySize;
        }
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
