package dev.troupe.batch;

/**
 * The sequences that batches are made of, S tokens each. Any thread may read them; nothing is allocated.
 */
public interface Sequences {
    /** Tokens of one sequence, S. */
    int sequenceLength();

    /** The number of sequences of which no two share a token: those of an epoch. */
    long windowCount();

    /** The position of one of them, 0 .. {@link #windowCount} - 1. */
    long positionOf(long window);

    /** The number of positions, from 0, at which a sequence may begin. */
    long positionCount();

    /** Whether a sequence may hold several documents that must not see each other. */
    boolean separatesDocuments();

    /** The number of targets that count in the sequence at a position. */
    int countedTargets(long position);

    /** The number of tokens in the sequence at a position that are no padding; padding is at its end. */
    int tokenCount(long position);

    /**
     * Copies the first tokens of the sequence at a position.
     *
     * @param rows receives tokens, targets and, where documents are apart, starts
     * @param at the place of the first in the arrays of {@code rows}
     * @param length how many to copy, from {@link #tokenCount} to S
     */
    void fill(long position, MicrobatchRows rows, int at, int length);
}
