package dev.troupe.protocol;

/**
 * A rank from one start to the next. Every event of a rank carries it, so that events from before a restart are dropped.
 *
 * @param rank
 *            which rank
 * @param epoch
 *            the epoch in which it was started
 */
public record Incarnation(int rank, int epoch) {
}
