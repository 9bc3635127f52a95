/**
 * The membership of a run: the join barrier, the recovery quorum of a coordinator that takes over, the end of nodes. Pure
 * state machines: events in, commands out. No actor, thread or clock in it.
 *
 * <p>Imports the JDK and {@code dev.troupe.machine}.
 */
package dev.troupe.membership;
