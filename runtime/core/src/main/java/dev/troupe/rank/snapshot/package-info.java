/** The snapshots of ranks' states in memory at every commit, from which ranks restart, and their copies on other nodes. */
package dev.troupe.rank.snapshot;
