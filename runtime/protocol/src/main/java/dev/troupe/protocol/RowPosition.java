package dev.troupe.protocol;

/**
 * The position of a rank in its row of a lowered plan.
 *
 * @param position the index of the action that the rank computes, sends or waits for; the length of the row at the row's end
 */
public record RowPosition(Pass.Kind kind, int position) {
}
