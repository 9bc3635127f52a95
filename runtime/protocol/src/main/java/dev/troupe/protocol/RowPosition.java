package dev.troupe.protocol;

/**
 * Where a rank is in its row of a lowered plan.
 *
 * @param kind
 *            of which of the two plans
 * @param position
 *            the index of what it computes, sends or waits for; the length of the row where that is behind it
 */
public record RowPosition(Pass.Kind kind, int position) {
}
