/**
 * The logic of a run as a pure state machine: passes, decisions, commits, recoveries, and failover to another coordinator.
 */
package dev.troupe.protocol.run;
