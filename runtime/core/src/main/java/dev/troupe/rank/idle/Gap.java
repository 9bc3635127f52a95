package dev.troupe.rank.idle;

import java.util.List;

/**
 * A time in which a rank did not compute.
 *
 * @param rank the rank of the world
 * @param position the position of the action that the rank did next, or was in; after the last action, the length of the row
 * @param isInside whether the rank was in the action, and waited there
 * @param fromNanos the beginning of the gap, on the shared clock; if the rank waited inside the action, the start of the
 *     action
 * @param parts its parts by cause; their lengths add up to {@code nanos}
 */
public record Gap(int rank, int position, boolean isInside, long fromNanos, long nanos, List<IdlePart> parts) {
    public Gap {
        parts = List.copyOf(parts);
    }
}
