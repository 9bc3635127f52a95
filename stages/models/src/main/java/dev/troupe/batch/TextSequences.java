package dev.troupe.batch;

import dev.troupe.data.DataException;
import dev.troupe.data.Tokens;

/**
 * The sequences of a text: any S consecutive tokens; the target of each is the next token, and all targets count. Windows
 * begin at multiples of S; fewer than S tokens after the last whole window are unused.
 */
public final class TextSequences implements Sequences {
    private final Tokens tokens;
    private final int sequenceLength;

    /** @throws DataException if the text is shorter than one sequence and the token after it */
    public TextSequences(Tokens tokens, int sequenceLength) {
        if (sequenceLength < 1) {
            throw new IllegalArgumentException("sequence length must be at least 1, but found " + sequenceLength);
        }
        tokens.requireSequence(sequenceLength);
        this.tokens = tokens;
        this.sequenceLength = sequenceLength;
    }

    @Override
    public int sequenceLength() {
        return sequenceLength;
    }

    @Override
    public long windowCount() {
        return (tokens.length() - 1) / sequenceLength; // rounded down: the rest is no whole window
    }

    @Override
    public long positionOf(long window) {
        return window * sequenceLength;
    }

    @Override
    public long positionCount() {
        return tokens.length() - sequenceLength;
    }

    @Override
    public boolean separatesDocuments() {
        return false;
    }

    @Override
    public int countedTargets(long position) {
        return sequenceLength;
    }

    @Override
    public int tokenCount(long position) {
        return sequenceLength;
    }

    @Override
    public void fill(long position, MicrobatchRows rows, int at, int length) {
        tokens.copy(position, rows.inputs(), at, length);
        tokens.copy(position + 1, rows.targets(), at, length);
    }
}
