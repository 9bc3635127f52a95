package dev.troupe.bench;

import java.util.List;
import java.util.Locale;

/**
 * The model and batch of a measurement.
 *
 * @param name such as {@code wide}
 * @param layers blocks
 * @param hidden width
 * @param vocabularySize number of tokens, at least the 256 bytes
 */
public record BenchmarkModel(String name, int layers, int hidden, int heads, int sequenceLength, int vocabularySize,
        int microbatches, int microbatchSize) {
    /** A model with most of a step in matrix products. */
    public static final BenchmarkModel WIDE = new BenchmarkModel("wide", 8, 512, 8, 256, 4096, 8, 4);
    /** A model with much of a step outside matrix products. */
    public static final BenchmarkModel NARROW = new BenchmarkModel("narrow", 8, 128, 4, 128, 256, 16, 2);
    /** GPT-2's two smaller sizes and a larger one, for a GPU; vocabularies are multiples of 128, as PyTorch recommends. */
    public static final BenchmarkModel GPT2_124M = new BenchmarkModel("gpt2-124m", 12, 768, 12, 1024, 50304, 8, 16);
    /** GPT-2 medium. */
    public static final BenchmarkModel GPT2_350M = new BenchmarkModel("gpt2-350m", 24, 1024, 16, 1024, 50304, 8, 16);
    /** As wide as GPT-3's model of 1.3 billion parameters, with heads of 128. */
    public static final BenchmarkModel GPT2_1300M = new BenchmarkModel("gpt2-1300m", 24, 2048, 16, 1024, 50304, 8, 8);

    /** Returns the tokens that one step trains on. */
    public long tokensPerStep() {
        return (long) microbatches * microbatchSize * sequenceLength;
    }

    /** Returns the settings of {@code troupe train -s} for this model. */
    public List<String> settings() {
        return List.of("model.layers=" + layers, "model.hidden=" + hidden, "model.heads=" + heads,
                "model.sequence-length=" + sequenceLength, "model.vocabulary-size=" + vocabularySize,
                "training.microbatch-size=" + microbatchSize,
                "training.global-batch-size=" + microbatches * microbatchSize, "training.validate-every=0",
                // The same as the peers' settings, since losses are compared with theirs.
                "training.learning-rate.peak=1e-3", "training.learning-rate.warmup-steps=0",
                "data.validation-fraction=0");
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT,
                "%s: %d layers, %d wide, %d heads, sequence %d, vocabulary %d, %d microbatches of %d", name,
                layers, hidden, heads, sequenceLength, vocabularySize, microbatches, microbatchSize);
    }
}
