package dev.troupe.batch;

/** The sequences of batches, S tokens each. Any thread may read them; nothing is allocated. */
public interface Sequences {
    /** Returns the tokens of one sequence, S. */
    int sequenceLength();

    /** Returns the number of windows in an epoch, which have no tokens in common. */
    long windowCount();

    /** Returns the position of a window, 0 .. {@link #windowCount} - 1. */
    long positionOf(long window);

    /** Returns the number of positions, from 0, at which a sequence may begin. */
    long positionCount();

    /** Returns whether a sequence may hold several documents, which must not attend to each other. */
    boolean separatesDocuments();

    int countedTargets(long position);

    /** Returns the number of tokens in the sequence at a position without the padding at its end. */
    int tokenCount(long position);

    /**
     * Copies the first tokens of the sequence at a position.
     *
     * @param rows receives tokens, targets and, if documents are separate, starts
     * @param at the place of the first in the arrays of {@code rows}
     * @param length the number of tokens to copy, from {@link #tokenCount} to S
     */
    void fill(long position, MicrobatchRows rows, int at, int length);
}
