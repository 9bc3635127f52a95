package dev.troupe.rows;

/**
 * Numbers of some rows, and of their documents and tokens.
 *
 * @param rows how many rows there are
 * @param documents how many documents are in them; a piece of a text that was cut is one
 * @param tokens of all documents
 * @param countedTargets targets that the loss counts
 * @param longestRow tokens of the row that has most
 * @param paddingShare the part of all places that holds no token, from 0 to 1
 */
public record RowFigures(long rows, long documents, long tokens, long countedTargets, int longestRow,
        double paddingShare) {
}
