/**
 * The logic of a run as a pure state machine: passes, decisions, commits and recoveries, and the failover to another
 * coordinator.
 *
 * <p>Imports the JDK, {@code dev.troupe.protocol}, {@code dev.troupe.protocol.checkpoint} and
 * {@code dev.troupe.protocol.replica}.
 */
package dev.troupe.protocol.run;
