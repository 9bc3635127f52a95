/**
 * The replicas of snapshots as pure tables: the node and the copies of each rank, the snapshots of a stage in memory, and
 * the snapshots that wait to be copied.
 */
package dev.troupe.protocol.replica;
