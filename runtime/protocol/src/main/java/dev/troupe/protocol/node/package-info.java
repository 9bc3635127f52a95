/**
 * The logic of one node of a run as a pure state machine: joining, the coordinator that it obeys, the ranks that it hosts,
 * its copies of snapshots, its report to a coordinator that takes over, its end.
 */
package dev.troupe.protocol.node;
