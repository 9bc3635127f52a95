package dev.troupe.machine;

import dev.troupe.transport.Edge;

/**
 * A message of a pass, whatever the epoch it is sent in.
 *
 * @param edge
 *            from where to where
 * @param microbatch
 *            the microbatch, from 0
 */
public record MessageKey(Edge edge, int microbatch) {
}
