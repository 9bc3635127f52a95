package dev.troupe.rows;

/**
 * The statistics of rows, documents and tokens.
 *
 * @param documents number of documents; each piece of a text that was cut is one
 * @param paddingShare the share of places without a token, from 0 to 1
 */
public record RowFigures(long rows, long documents, long tokens, long countedTargets, int longestRow,
        double paddingShare) {
}
