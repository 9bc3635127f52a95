/**
 * The replicas of snapshots as pure tables: the node and the copies of each rank, the snapshots of a stage in memory, and
 * the snapshots that wait to be copied.
 *
 * <p>Imports the JDK and {@code dev.troupe.protocol}.
 */
package dev.troupe.protocol.replica;
