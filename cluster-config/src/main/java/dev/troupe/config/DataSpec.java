package dev.troupe.config;

import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/**
 * What a run is trained on.
 *
 * @param path absolute path of a UTF-8 text file, or of a {@code .bin} file of little-endian uint16 tokens; empty: the
 *            built-in corpus
 * @param tokenizer how text becomes tokens; without a say where the file holds tokens already
 * @param order how sequences are taken from the corpus
 * @param seed seed of the random order
 * @param validationFraction share of the corpus held out at its end, at least 0 and below 1; 0: none
 */
public record DataSpec(Optional<Path> path, Tokenizer tokenizer, Order order, long seed, double validationFraction) {

    private static final String TOKEN_FILE_SUFFIX = ".bin";

    /** Refuses a missing part. */
    public DataSpec {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(tokenizer, "tokenizer");
        Objects.requireNonNull(order, "order");
    }

    /** Returns whether the corpus is a file of tokens, so that no tokenizer is at work. */
    public boolean isTokenFile() {
        return path.isPresent() && path.get().toString().endsWith(TOKEN_FILE_SUFFIX);
    }

    /** How text becomes tokens. */
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

    /** How sequences are taken from the corpus. */
    public enum Order implements Word {
        /** Seeded windows. */
        RANDOM("random"),
        /** Step k takes sequences i = 0 .. B-1 at offset (k B + i) S. */
        SEQUENTIAL("sequential");

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
