/**
 * The snapshots of ranks' states in memory at every commit, from which ranks restart, and their copies on other nodes, with
 * the routes of the copies.
 */
package dev.troupe.rank.snapshot;
