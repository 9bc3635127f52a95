/**
 * The snapshots of ranks' states in memory at every commit, from which ranks start again, and the copies that other nodes
 * have of them.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.parallel}, {@code dev.troupe.protocol.replica},
 * {@code dev.troupe.shard}, {@code dev.troupe.snapshot.copy} and {@code dev.troupe.weights}.
 */
package dev.troupe.snapshot;
