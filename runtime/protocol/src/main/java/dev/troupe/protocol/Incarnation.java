package dev.troupe.protocol;

/**
 * A rank from one start to the next. Every event of a rank carries it, so that events from before a restart, and of a rank
 * that another coordinator has started, are dropped.
 *
 * @param epoch the epoch in which it was started
 * @param term the term of the coordinator that started it: a lost coordinator may have begun an epoch of the same number as
 *     its successor
 */
public record Incarnation(int rank, int epoch, int term) {
}
