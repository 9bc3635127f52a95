package dev.troupe.rows;

import dev.troupe.data.DataException;

/**
 * The rules that make rows of documents.
 *
 * @param sequenceLength tokens of a row, S
 * @param isPacked whether a row takes several documents if they fit; if not, each document has its own row. Rows that a file
 *     already has remain as they are.
 * @param separatesDocuments whether the model can separate the documents of a row; if not, a row of several documents is
 *     refused
 * @param cutsLongText whether text of more than S tokens is cut; if not, it is refused
 */
public record RowSettings(int sequenceLength, boolean isPacked, boolean separatesDocuments, boolean cutsLongText) {
    /** Refuses rows in which nothing has a target. */
    public RowSettings {
        if (sequenceLength < 2) {
            throw new DataException(
                    "rows of documents need a model.sequence-length of 2 or more, since the first token of a"
                            + " document is no target, but found " + sequenceLength);
        }
    }

    /** Creates the rules for a model that separates documents. */
    public RowSettings(int sequenceLength, boolean isPacked, boolean cutsLongText) {
        this(sequenceLength, isPacked, true, cutsLongText);
    }
}
