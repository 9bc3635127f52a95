package dev.troupe.schedule;

/**
 * A place of a plan that a drawing points at.
 *
 * @param place what is put in brackets
 * @param caption what is written beside the arrow, one line
 */
public record Mark(Place place, String caption) {
}
