/**
 * The logic of one node of a run as a pure state machine: joining, the coordinator that it obeys, the ranks that it hosts,
 * its copies of snapshots, its report to a coordinator that takes over, its end.
 *
 * <p>Imports the JDK, {@code dev.troupe.protocol}, {@code dev.troupe.protocol.checkpoint} and
 * {@code dev.troupe.protocol.run}.
 */
package dev.troupe.protocol.node;
