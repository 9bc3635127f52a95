package dev.troupe.schedule;

import java.io.Serializable;

/**
 * A place in a plan.
 *
 * @param rank the row, from 0
 * @param position the index in the row, from 0; the length of the row means after its last action
 */
public record Place(int rank, int position) implements Serializable {
}
