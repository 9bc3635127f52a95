/**
 * The snapshots of ranks' states in memory at every commit, from which ranks start again, and their copies on other
 * nodes.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.parallel}, {@code dev.troupe.protocol.replica},
 * {@code dev.troupe.shard} and {@code dev.troupe.weights}.
 */
package dev.troupe.snapshot;
