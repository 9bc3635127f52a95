/**
 * What ranks keep of their state in memory at every commit, to start again from, and copies of it on other nodes.
 *
 * <p>Imports the JDK, {@code dev.troupe.engine}, {@code dev.troupe.model}, {@code dev.troupe.parallel} and
 * {@code dev.troupe.weights}.
 */
package dev.troupe.snapshot;
