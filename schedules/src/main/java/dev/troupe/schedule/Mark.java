package dev.troupe.schedule;

/**
 * A place of a plan that a drawing points at.
 *
 * @param place the place in brackets
 * @param caption the text beside the arrow, one line
 */
public record Mark(Place place, String caption) {
}
