package dev.troupe.data;

/**
 * The microbatches that the validation loss is measured on: always the same ones, window after window from the beginning
 * of the validation part. Any thread may call it; nothing is allocated.
 */
public final class ValidationBatches {
    private final Batches batches;
    private final int microbatchSize;
    private final int microbatchCount;

    /**
     * Microbatches of a validation part.
     *
     * @param mostMicrobatches
     *            how many to use, unless the part has fewer whole ones; at least one is used, which repeats windows
     *            where the part has fewer than a microbatch of them
     * @throws DataException
     *             where there is not one sequence and the token after it
     */
    public ValidationBatches(Tokens validation, int sequenceLength, int microbatchSize, int mostMicrobatches) {
        if (microbatchSize < 1 || mostMicrobatches < 1) {
            throw new IllegalArgumentException(
                    "microbatch size and count must be at least 1, but found " + microbatchSize
                            + " and " + mostMicrobatches);
        }
        validation.requireSequence(sequenceLength);
        long whole = (validation.length() - 1) / sequenceLength / microbatchSize;
        this.microbatchSize = microbatchSize;
        // A batch numbers its sequences with 32 bits.
        this.microbatchCount = Math.clamp(whole, 1, Math.min(mostMicrobatches, Integer.MAX_VALUE / microbatchSize));
        this.batches = new Batches(validation, Order.SEQUENTIAL, 0, sequenceLength, microbatchCount * microbatchSize);
    }

    /** How many microbatches there are. */
    public int microbatchCount() {
        return microbatchCount;
    }

    /** Copies one of them, in the form of {@link Batches#fillMicrobatch}. */
    public void fill(int microbatch, int[] inputs, int[] targets) {
        batches.fillMicrobatch(0, microbatch, microbatchSize, inputs, targets);
    }
}
