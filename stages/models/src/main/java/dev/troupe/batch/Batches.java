package dev.troupe.batch;

import dev.troupe.data.DataException;
import dev.troupe.data.Tokens;
import java.util.Objects;

/**
 * The sequences of each training step. S is the sequence length and B the global batch size. The position of sequence i = 0
 * .. B-1 of step k is a function of (seed, k, i), independent of the division of the batch into microbatches and over ranks.
 * Any thread may call it; a step allocates a few bytes.
 *
 * <p>In epochs, sequence i of step k is number g = k B + i of the run: place g mod W of epoch g / W, where W is the number
 * of windows without overlap. A batch may begin in one epoch and end in the next, so that each window occurs exactly once in
 * an epoch.
 */
public final class Batches {
    // Odd constants of the golden ratio and of MurmurHash3, so that neighbouring steps and sequences have unrelated bits.
    private static final long STEP_STRIDE = 0x9E3779B97F4A7C15L;
    private static final long SEQUENCE_STRIDE = 0xC2B2AE3D27D4EB4FL;

    private final Sequences sequences;
    private final Order order;
    private final long seed;
    private final int globalBatchSize;
    private final Permutation permutation;
    private final SequenceLengths lengths;
    private volatile Counted counted = new Counted(-1, 0);

    /** The counted targets of a step. */
    private record Counted(long step, long targets) {
    }

    /**
     * Creates the batches of a text: any S consecutive tokens are a sequence; the target of each is the next token.
     *
     * @param seed of the random order and of the order of epochs; unused by the sequential order
     * @throws DataException if the text is shorter than one sequence and the token after it
     */
    public Batches(Tokens tokens, Order order, long seed, int sequenceLength, int globalBatchSize) {
        this(new TextSequences(tokens, sequenceLength), order, seed, globalBatchSize);
    }

    /**
     * Creates the batches of any sequences.
     *
     * @param seed of the random order and of the order of epochs; unused by the sequential order
     */
    public Batches(Sequences sequences, Order order, long seed, int globalBatchSize) {
        this(sequences, order, seed, globalBatchSize, SequenceLengths.of(sequences.sequenceLength(), 1));
    }

    /** As above, with the lengths of a run. */
    public Batches(Sequences sequences, Order order, long seed, int globalBatchSize, SequenceLengths lengths) {
        if (globalBatchSize < 1) {
            throw new IllegalArgumentException("global batch size must be at least 1, but found " + globalBatchSize);
        }
        this.sequences = sequences;
        this.order = order;
        this.seed = seed;
        this.globalBatchSize = globalBatchSize;
        this.lengths = lengths;
        this.permutation = new Permutation(sequences.windowCount());
    }

    public int sequenceLength() {
        return sequences.sequenceLength();
    }

    public int globalBatchSize() {
        return globalBatchSize;
    }

    /** Returns whether a sequence may hold several documents, which must not attend to each other. */
    public boolean separatesDocuments() {
        return sequences.separatesDocuments();
    }

    /** Returns the number of sequences without common tokens, W. */
    public long windowCount() {
        return sequences.windowCount();
    }

    /** Returns the number of epochs in {@code steps} steps: the number of their sequences over W. */
    public double epochs(long steps) {
        return (double) steps * globalBatchSize / windowCount();
    }

    /** Returns the position of a sequence of a step: in a text the place of its first token. */
    public long position(long step, int sequence) {
        Objects.checkIndex(sequence, globalBatchSize);
        if (step < 0) {
            throw new IllegalArgumentException("a step must be at least 0, but found " + step);
        }
        return switch (order) {
            case SEQUENTIAL -> sequences.positionOf(number(step, sequence) % windowCount());
            case EPOCHS -> {
                long number = number(step, sequence);
                long key = Mixing.mix(Mixing.mix(seed) + number / windowCount() * STEP_STRIDE);
                yield sequences.positionOf(permutation.at(key, number % windowCount()));
            }
            case RANDOM -> {
                long bits = Mixing
                        .mix(Mixing.mix(Mixing.mix(seed) + step * STEP_STRIDE) + sequence * SEQUENCE_STRIDE);
                // The high half of the product maps 64 bits evenly onto the positions.
                yield Math.unsignedMultiplyHigh(bits, sequences.positionCount());
            }
        };
    }

    /**
     * Returns the tokens of each sequence of a microbatch, T, so that little padding is computed. It follows only from the
     * data and the microbatch.
     */
    public int lengthOf(long step, int microbatch, int microbatchSize) {
        int most = 1;
        for (int row = 0; row < microbatchSize; row++) {
            most = Math.max(most, sequences.tokenCount(position(step, microbatch * microbatchSize + row)));
        }
        return lengths.holding(most);
    }

    /**
     * Returns the length of each microbatch of a step, as {@link #lengthOf}, but 0 for the longest, S; empty if all are 0.
     */
    public int[] lengths(long step, int microbatchSize) {
        int[] all = new int[globalBatchSize / microbatchSize]; // exact: a batch is of whole microbatches
        boolean isUnequal = false;
        for (int microbatch = 0; microbatch < all.length; microbatch++) {
            int length = lengthOf(step, microbatch, microbatchSize);
            all[microbatch] = length == sequenceLength() ? 0 : length;
            isUnequal |= all[microbatch] != 0;
        }
        return isUnequal ? all : new int[0];
    }

    /**
     * Copies one microbatch: sequences {@code m b .. m b + b-1} of the global batch, where m is the microbatch and b its
     * size.
     *
     * @param rows receives b x T tokens, T being {@link #lengthOf}, and the number of targets over which its loss is a mean
     */
    public void fillMicrobatch(long step, int microbatch, int microbatchSize, MicrobatchRows rows) {
        int length = lengthOf(step, microbatch, microbatchSize);
        for (int row = 0; row < microbatchSize; row++) {
            sequences.fill(position(step, microbatch * microbatchSize + row), rows, row * length, length);
        }
        rows.setTokenCount(microbatchSize * length);
        // Exactly b S if every target counts.
        rows.setTargetsPerMicrobatch((double) countedTargets(step) * microbatchSize / globalBatchSize);
    }

    /** Returns the targets that count in the global batch of a step. */
    public long countedTargets(long step) {
        Counted known = counted;
        if (known.step() != step) {
            long targets = 0;
            for (int sequence = 0; sequence < globalBatchSize; sequence++) {
                targets += sequences.countedTargets(position(step, sequence));
            }
            known = new Counted(step, targets);
            counted = known;
        }
        return known.targets();
    }

    /** Returns the number of sequences before this one in the run. */
    private long number(long step, int sequence) {
        return Math.multiplyExact(step, globalBatchSize) + sequence;
    }
}
