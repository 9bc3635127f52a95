package dev.troupe.batch;

/**
 * The microbatches of the validation loss: always the same consecutive windows from the beginning of the validation data.
 * Any thread; allocates nothing.
 */
public final class ValidationBatches {
    private final Batches batches;
    private final int microbatchSize;
    private final int microbatchCount;

    /**
     * @param mostMicrobatches the most microbatches to use. If the data have fewer, all whole ones are used; if they have
     *     less than one, its sequences repeat
     */
    public ValidationBatches(Sequences validation, int microbatchSize, int mostMicrobatches) {
        this(validation, microbatchSize, mostMicrobatches, SequenceLengths.of(validation.sequenceLength(), 1));
    }

    /** As above, with the lengths of a run. */
    public ValidationBatches(Sequences validation, int microbatchSize, int mostMicrobatches, SequenceLengths lengths) {
        if (microbatchSize < 1 || mostMicrobatches < 1) {
            throw new IllegalArgumentException(
                    "microbatch size and count must be at least 1, but found " + microbatchSize
                            + " and " + mostMicrobatches);
        }
        long whole = validation.windowCount() / microbatchSize;
        this.microbatchSize = microbatchSize;
        // A batch numbers its sequences with 32 bits.
        this.microbatchCount = Math.clamp(whole, 1, Math.min(mostMicrobatches, Integer.MAX_VALUE / microbatchSize));
        this.batches = new Batches(validation, Order.SEQUENTIAL, 0, microbatchCount * microbatchSize, lengths);
    }

    public int microbatchCount() {
        return microbatchCount;
    }

    /** Returns the tokens of each sequence of a microbatch, as {@link Batches#lengthOf}. */
    public int lengthOf(int microbatch) {
        return batches.lengthOf(0, microbatch, microbatchSize);
    }

    /** Copies a microbatch, in the form of {@link Batches#fillMicrobatch}. */
    public void fill(int microbatch, MicrobatchRows rows) {
        batches.fillMicrobatch(0, microbatch, microbatchSize, rows);
    }
}
