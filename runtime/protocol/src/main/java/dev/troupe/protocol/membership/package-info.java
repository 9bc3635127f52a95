/**
 * The membership of a run: the join barrier, the recovery quorum of a coordinator that takes over, the end of nodes, as
 * pure state machines.
 *
 * <p>Imports the JDK, {@code dev.troupe.protocol}, {@code dev.troupe.protocol.replica} and
 * {@code dev.troupe.protocol.run}.
 */
package dev.troupe.protocol.membership;
