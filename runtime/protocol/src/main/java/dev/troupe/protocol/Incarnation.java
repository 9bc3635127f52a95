package dev.troupe.protocol;

/**
 * A rank from one start to the next. What a rank says carries it, so that one that was restarted meanwhile is not heard.
 *
 * @param rank
 *            which rank
 * @param epoch
 *            the epoch in which it was started
 */
public record Incarnation(int rank, int epoch) {
}
