package dev.troupe.data;

import java.util.Objects;

/**
 * The sequences that each step trains on. S is the sequence length and B the global batch size; step k and sequence
 * i = 0 .. B-1 give an offset o, with inputs {@code [o, o+S)} and targets {@code [o+1, o+S+1)}. The offset is a function of
 * (seed, k, i) alone, so it does not matter how the batch is divided into microbatches or over ranks. Any thread may
 * call it; nothing is allocated.
 *
 * <p>In epochs, sequence i of step k is number g = k B + i of the run: place g mod W of epoch g / W, where W is how many
 * windows of S tokens with their targets there are. A batch that begins in one epoch of the data may end in the next: no
 * window is left out, and none comes twice in an epoch. The tokens after the last whole window, fewer than S, are not seen.
 */
public final class Batches {
    // Odd constants of the golden ratio and of MurmurHash3, so that neighbouring steps and sequences share no bits.
    private static final long STEP_STRIDE = 0x9E3779B97F4A7C15L;
    private static final long SEQUENCE_STRIDE = 0xC2B2AE3D27D4EB4FL;

    private final Tokens tokens;
    private final Order order;
    private final long seed;
    private final int sequenceLength;
    private final int globalBatchSize;
    private final long windowCount;
    private final Permutation permutation;

    /**
     * Batches of a text.
     *
     * @param seed
     *            of the random order and of that of epochs; the sequential order has no use for it
     * @throws DataException
     *             where there is not one sequence and the token after it
     */
    public Batches(Tokens tokens, Order order, long seed, int sequenceLength, int globalBatchSize) {
        if (sequenceLength < 1 || globalBatchSize < 1) {
            throw new IllegalArgumentException("sequence length and global batch size must be at least 1, but found "
                    + sequenceLength + " and " + globalBatchSize);
        }
        tokens.requireSequence(sequenceLength);
        this.tokens = tokens;
        this.order = order;
        this.seed = seed;
        this.sequenceLength = sequenceLength;
        this.globalBatchSize = globalBatchSize;
        this.windowCount = (tokens.length() - 1) / sequenceLength; // rounded down: the rest is no whole window
        this.permutation = new Permutation(windowCount);
    }

    /** Tokens of one sequence, S. */
    public int sequenceLength() {
        return sequenceLength;
    }

    /** Sequences of one step, B. */
    public int globalBatchSize() {
        return globalBatchSize;
    }

    /** Windows of S tokens, each with the token after it, that do not overlap: W. */
    public long windowCount() {
        return windowCount;
    }

    /** How often so many steps go through the data, as the number of sequences they take over W. */
    public double epochs(long steps) {
        return (double) steps * globalBatchSize / windowCount;
    }

    /** Where sequence {@code sequence} of a step begins in the text. */
    public long offset(long step, int sequence) {
        Objects.checkIndex(sequence, globalBatchSize);
        if (step < 0) {
            throw new IllegalArgumentException("a step must be at least 0, but found " + step);
        }
        return switch (order) {
            case SEQUENTIAL -> number(step, sequence) % windowCount * sequenceLength;
            case EPOCHS -> {
                long number = number(step, sequence);
                long key = Mixing.mix(Mixing.mix(seed) + number / windowCount * STEP_STRIDE);
                yield permutation.at(key, number % windowCount) * sequenceLength;
            }
            case RANDOM -> {
                long bits = Mixing
                        .mix(Mixing.mix(Mixing.mix(seed) + step * STEP_STRIDE) + sequence * SEQUENCE_STRIDE);
                // The high half of the product maps 64 bits evenly onto the offsets 0 .. n-S-1.
                yield Math.unsignedMultiplyHigh(bits, tokens.length() - sequenceLength);
            }
        };
    }

    /**
     * Copies one sequence.
     *
     * @param sequence
     *            its index in the global batch
     * @param inputs
     *            receives S tokens from {@code at} on
     * @param targets
     *            receives the token after each of them, from {@code at} on
     */
    public void fill(long step, int sequence, int[] inputs, int[] targets, int at) {
        long offset = offset(step, sequence);
        tokens.copy(offset, inputs, at, sequenceLength);
        tokens.copy(offset + 1, targets, at, sequenceLength);
    }

    /**
     * Copies one microbatch: sequences {@code m b .. m b + b-1} of the global batch, where m is the microbatch and b
     * its size; token t of the sequence in row r is element {@code r S + t}.
     *
     * @param microbatch
     *            its index in the global batch
     * @param inputs
     *            receives b x S tokens
     * @param targets
     *            receives b x S tokens
     */
    public void fillMicrobatch(long step, int microbatch, int microbatchSize, int[] inputs, int[] targets) {
        for (int row = 0; row < microbatchSize; row++) {
            fill(step, microbatch * microbatchSize + row, inputs, targets, row * sequenceLength);
        }
    }

    /** Sequences that come before this one in the run. */
    private long number(long step, int sequence) {
        return Math.multiplyExact(step, globalBatchSize) + sequence;
    }
}
