package dev.troupe.protocol;

/**
 * The life of a rank from one start to the next. Each event of a rank carries it, so that events from before a restart, or
 * from a start by another coordinator, are dropped.
 *
 * @param epoch the epoch in which the rank was started
 * @param term the term of the coordinator that started the rank: a lost coordinator may have begun an epoch of the same
 *     number
 */
public record Incarnation(int rank, int epoch, int term) {
}
