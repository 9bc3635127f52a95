package dev.troupe.protocol;

/**
 * A rank from one start to the next. Every event of a rank carries it, so that events from before a restart are dropped, and
 * those of a rank that another coordinator has started.
 *
 * @param rank which rank
 * @param epoch the epoch in which it was started
 * @param term the term of the coordinator under which it was started: a lost coordinator may have begun an epoch of the
 *     same number as its successor's
 */
public record Incarnation(int rank, int epoch, int term) {
}
