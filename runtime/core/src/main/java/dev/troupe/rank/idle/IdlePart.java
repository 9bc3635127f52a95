package dev.troupe.rank.idle;

import dev.troupe.schedule.Action;

/**
 * A part of an idle time with its cause.
 *
 * @param rank the rank at the root, which was slow, held a message up or was paused
 * @param action the action of that rank at the root; null if there is none
 */
public record IdlePart(Cause cause, long nanos, int rank, Action action) {
}
