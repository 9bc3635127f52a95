package dev.troupe.batch;

import java.util.Arrays;
import java.util.Objects;

/**
 * The rows of one microbatch in host memory, b sequences of T tokens, and the number of targets over which its loss is a
 * mean. T is at most the S of the run: padding at the ends of all rows is left out. Token t of the sequence in row r is
 * element {@code r T + t} of each array; the rest of an array has no meaning.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class MicrobatchRows {
    private final int[] inputs;
    private final int[] targets;
    /** Null if no row holds several documents. */
    private final int[] starts;
    private int tokenCount;
    private double targetsPerMicrobatch;

    /**
     * Creates empty rows.
     *
     * @param tokens the capacity, b S
     * @param separatesDocuments whether a row may hold several documents, so that there are {@link #starts}
     */
    public MicrobatchRows(int tokens, boolean separatesDocuments) {
        this(new int[tokens], new int[tokens], separatesDocuments ? new int[tokens] : null, tokens);
    }

    /**
     * Creates rows of one document each, in which every target counts.
     *
     * @param inputs b S token ids
     * @param targets the token after each of them
     */
    public MicrobatchRows(int[] inputs, int[] targets) {
        this(inputs, targets, null, inputs == null ? 0 : inputs.length);
    }

    private MicrobatchRows(int[] inputs, int[] targets, int[] starts, double targetsPerMicrobatch) {
        this.inputs = inputs;
        this.targets = targets;
        this.starts = starts;
        this.tokenCount = inputs == null ? 0 : inputs.length;
        this.targetsPerMicrobatch = targetsPerMicrobatch;
    }

    /** Returns the number of tokens, b T; initially b S. */
    public int tokenCount() {
        return tokenCount;
    }

    public void setTokenCount(int number) {
        tokenCount = Objects.checkIndex(number, inputs.length + 1);
    }

    public int[] inputs() {
        return inputs;
    }

    /** Returns the target of each token, or {@link dev.troupe.engine.TokenKernels#NOT_COUNTED}. */
    public int[] targets() {
        return targets;
    }

    /** Returns for each token the place in its row at which its document begins; null if no row holds several documents. */
    public int[] starts() {
        return starts;
    }

    /**
     * Returns the mean number of counted targets per microbatch of the step. A microbatch's loss is its sum divided by this
     * number, so that the mean over microbatches is the mean over all counted targets.
     */
    public double targetsPerMicrobatch() {
        return targetsPerMicrobatch;
    }

    /** Sets {@link #targetsPerMicrobatch}, which is b S at first. */
    public void setTargetsPerMicrobatch(double number) {
        targetsPerMicrobatch = number;
    }

    @Override
    public String toString() {
        return text(inputs) + text(targets) + (starts == null ? "" : text(starts))
                + (targetsPerMicrobatch == inputs.length ? "" : targetsPerMicrobatch);
    }

    private String text(int[] numbers) {
        return Arrays.toString(Arrays.copyOf(numbers, tokenCount));
    }
}
