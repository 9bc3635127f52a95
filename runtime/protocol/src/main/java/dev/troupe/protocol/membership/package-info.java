/**
 * The membership of a run: the join barrier, the recovery quorum of a coordinator that takes over, the end of nodes, as
 * pure state machines.
 */
package dev.troupe.protocol.membership;
