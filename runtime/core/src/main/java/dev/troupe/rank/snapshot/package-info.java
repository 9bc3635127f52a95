/**
 * The snapshots of ranks' states in memory at every commit, from which ranks start again, and the copies that other nodes
 * have of them.
 */
package dev.troupe.rank.snapshot;
