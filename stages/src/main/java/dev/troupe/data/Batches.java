package dev.troupe.data;

import java.util.Objects;

/**
 * The sequences that each step trains on. S is the sequence length and B the global batch size; step k and sequence
 * i = 0 .. B-1 give an offset o, with inputs {@code [o, o+S)} and targets {@code [o+1, o+S+1)}. The offset is a function of
 * (seed, k, i) alone, so it does not matter how the batch is divided into microbatches or over ranks. Any thread may
 * call it; nothing is allocated.
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

    /**
     * Batches of a text.
     *
     * @param seed
     *            of the random order; the sequential order has no use for it
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
    }

    /** Tokens of one sequence, S. */
    public int sequenceLength() {
        return sequenceLength;
    }

    /** Sequences of one step, B. */
    public int globalBatchSize() {
        return globalBatchSize;
    }

    /** Where sequence {@code sequence} of a step begins in the text. */
    public long offset(long step, int sequence) {
        Objects.checkIndex(sequence, globalBatchSize);
        if (step < 0) {
            throw new IllegalArgumentException("a step must be at least 0, but found " + step);
        }
        return switch (order) {
            case SEQUENTIAL -> {
                long windowCount = (tokens.length() - 1) / sequenceLength;
                yield (Math.multiplyExact(step, globalBatchSize) + sequence) % windowCount * sequenceLength;
            }
            case RANDOM -> {
                long bits = mix(mix(mix(seed) + step * STEP_STRIDE) + sequence * SEQUENCE_STRIDE);
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

    // The finalizer of SplitMix64 (Steele, Lea and Flood 2014): every bit of the result depends on every bit given.
    private static long mix(long value) {
        long bits = (value ^ value >>> 30) * 0xBF58476D1CE4E5B9L;
        bits = (bits ^ bits >>> 27) * 0x94D049BB133111EBL;
        return bits ^ bits >>> 31;
    }
}
