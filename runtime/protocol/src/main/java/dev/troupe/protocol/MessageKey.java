package dev.troupe.protocol;

/**
 * The identity of a message within a pass, the same in every epoch.
 *
 * @param microbatch the microbatch, from 0
 */
public record MessageKey(Edge edge, int microbatch) {
}
