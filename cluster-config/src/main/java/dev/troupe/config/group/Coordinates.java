package dev.troupe.config.group;

/**
 * Where a rank stands, each from 0.
 *
 * @param pipeline
 *            its place in its pipeline
 * @param data
 *            which of the pipelines side by side it belongs to
 * @param tensor
 *            its place among the ranks that share its stages
 */
public record Coordinates(int pipeline, int data, int tensor) {
}
