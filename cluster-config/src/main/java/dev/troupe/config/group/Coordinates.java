package dev.troupe.config.group;

/**
 * The coordinates of a rank, each from 0.
 *
 * @param data the index of its pipeline among the parallel pipelines
 * @param tensor its place among the ranks that share its stages
 */
public record Coordinates(int pipeline, int data, int tensor) {
}
