package dev.troupe.protocol;

/**
 * A message of a pass, whatever the epoch it is sent in.
 *
 * @param edge from where to where
 * @param microbatch the microbatch, from 0
 */
public record MessageKey(Edge edge, int microbatch) {
}
