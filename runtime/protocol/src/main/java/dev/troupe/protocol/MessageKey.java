package dev.troupe.protocol;

/**
 * A message of a pass, whatever its epoch.
 *
 * @param edge its channel
 * @param microbatch the microbatch, from 0
 */
public record MessageKey(Edge edge, int microbatch) {
}
