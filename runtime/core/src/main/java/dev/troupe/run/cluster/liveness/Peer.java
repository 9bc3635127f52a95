package dev.troupe.run.cluster.liveness;

/**
 * One process of a node. A restarted node has the same name and another number.
 *
 * @param uid the number that its actor system drew at its start
 */
public record Peer(String node, long uid) {
}
