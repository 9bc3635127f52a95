package dev.troupe.schedule.idle;

import java.util.List;

/**
 * A time in which a rank did not compute.
 *
 * @param rank the rank of the world
 * @param position the position of the action that the rank did next, or was in; the length of the row behind the last
 *     action
 * @param isInside whether the rank was in the action, and waited there
 * @param fromNanos the begin of the gap, on the shared clock; where the rank waited inside the action, the start of the
 *     action
 * @param nanos its length
 * @param parts what it consists of; their lengths add up to it
 */
public record Gap(int rank, int position, boolean isInside, long fromNanos, long nanos, List<IdlePart> parts) {
    public Gap {
        parts = List.copyOf(parts);
    }
}
