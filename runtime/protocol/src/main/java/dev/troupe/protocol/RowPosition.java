package dev.troupe.protocol;

/**
 * If a rank is in its row of a lowered plan.
 *
 * @param kind of which of the two plans
 * @param position the index of the action that the rank computes, sends or waits for; the length of the row at the
 *     row's end
 */
public record RowPosition(Pass.Kind kind, int position) {
}
