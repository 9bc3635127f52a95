/**
 * The logic of a run as a pure state machine: passes, decisions, commits and recoveries, and the failover to another
 * coordinator.
 */
package dev.troupe.protocol.run;
