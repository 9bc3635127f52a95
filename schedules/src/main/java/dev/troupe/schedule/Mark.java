package dev.troupe.schedule;

/**
 * A place of a plan to mark in a drawing.
 *
 * @param caption the text next to the arrow, one line
 */
public record Mark(Place place, String caption) {
}
